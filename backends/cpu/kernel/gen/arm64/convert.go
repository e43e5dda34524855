package main

import "fmt"

// lanes are the elements of a vector for functions that get whole vectors (table.lanes).
const lanes = 8

func convert(g *gen) {
	if g.isa != neon {
		return
	}
	g.transpose8()
	g.interleave3()
	g.function("halfToFloat", "func(dst *float32, src *uint16, n int)",
		"widens n binary16 values; n is a positive multiple of 8.")
	dst, src, n := g.arg("dst"), g.arg("src"), g.arg("n")
	g.whole(n, lanes, func() {
		x, a := g.vec(), g.vec()
		g.i("FMOVQ.P 16(%b), %d", src, x)
		g.v("fcvtl.4s", a, x)
		g.v("fcvtl2.4s", x, x)
		g.i("FSTPQ.P (%u, %u), 32(%b)", a, x, dst)
	})
	g.function("floatToHalf", "func(dst *uint16, src *float32, n int)",
		"rounds n values to binary16, ties to even; n is a positive multiple of 8.")
	dst, src, n = g.arg("dst"), g.arg("src"), g.arg("n")
	g.whole(n, lanes, func() {
		x, y := g.vec(), g.vec()
		g.i("FLDPQ.P 32(%b), (%d, %d)", src, x, y)
		g.v("fcvtn.4h", x, x)
		g.v("fcvtn2.8h", x, y)
		g.i("FMOVQ.P %u, 16(%b)", x, dst)
	})
	for _, signed := range []bool{false, true} {
		g.dequantize(signed)
	}
	g.function("roundTrip", "func(dst, src *float32, n int, scale, lo, hi, back float32)",
		"is dst = round(clamp(src/scale, lo, hi)) * back on n values, NaN counting as 0.")
	dst, src, n = g.arg("dst"), g.arg("src"), g.arg("n")
	scale, lo, hi, back := g.every("scale"), g.every("lo"), g.every("hi"), g.every("back")
	g.v("fcvtns.4s", lo, lo) // whole numbers: a number may be rounded before it is clamped
	g.v("fcvtns.4s", hi, hi)
	g.stream(n, 4, []*reg{dst, src}, func(at, lanes int) {
		x := g.op("fcvtns.4s", g.div(g.load(lanes, src, at, g.vec()), scale)) // NaN is 0
		x = g.op("scvtf.4s", g.op("smin.4s", g.op("smax.4s", x, lo), hi))
		g.store(lanes, g.mul(x, back), dst, at)
	})
	g.end()
	g.function("mix4", "func(dst, a, b, c, d *float32, n int, wa, wb, wc, wd float32)",
		"is dst = a*wa + b*wb + c*wc + d*wd on n values.")
	pd, pa, pb, pc, pe := g.arg("dst"), g.arg("a"), g.arg("b"), g.arg("c"), g.arg("d")
	n = g.arg("n")
	wa, wb, wc, wd := g.every("wa"), g.every("wb"), g.every("wc"), g.every("wd")
	g.stream(n, 2, []*reg{pd, pa, pb, pc, pe}, func(at, lanes int) {
		r := g.mul(g.load(lanes, pa, at, g.vec()), wa)
		g.v("fmla.4s", r, g.load(lanes, pb, at, g.vec()), wb)
		g.v("fmla.4s", r, g.load(lanes, pc, at, g.vec()), wc)
		g.v("fmla.4s", r, g.load(lanes, pe, at, g.vec()), wd)
		g.store(lanes, r, pd, at)
	})
	g.end()
}

func (g *gen) dequantize(signed bool) {
	name, typ, widen := "dequantizeU8", "uint8", "uxtl"
	if signed {
		name, typ, widen = "dequantizeS8", "int8", "sxtl"
	}
	g.function(name, fmt.Sprintf("func(dst *float32, src *%s, n int, scale float32, zero int32)", typ),
		"is dst = float32(src-zero) * scale; n is a positive multiple of 8.")
	dst, src, n, scale, zero := g.arg("dst"), g.arg("src"), g.arg("n"), g.every("scale"), g.every("zero")
	g.whole(n, lanes, func() {
		x, y := g.vec(), g.vec()
		g.i("FMOVD.P 8(%b), %d", src, x)
		g.v(widen+".8h", x, x)
		g.v(widen+"2.4s", y, x)
		g.v(widen+".4s", x, x)
		for _, v := range []*reg{x, y} {
			g.v("sub.4s", v, v, zero)
			g.v("scvtf.4s", v, v)
			g.v("fmul.4s", v, v, scale)
		}
		g.i("FSTPQ.P (%u, %u), 32(%b)", x, y, dst)
	})
}

// interleave3 merges three planes.
func (g *gen) interleave3() {
	g.function("interleave3", "func(dst, a, b, c *float32, n int)",
		"is dst[3*i:] = a[i], b[i], c[i]; n is a positive multiple of 8.")
	dst, a, b, c, n := g.arg("dst"), g.arg("a"), g.arg("b"), g.arg("c"), g.arg("n")
	v := [3]*reg{g.numbered(0), g.numbered(1), g.numbered(2)}
	g.whole(n, 4, func() {
		for i, p := range []*reg{a, b, c} {
			g.i("FMOVQ.P 16(%b), %d", p, v[i])
		}
		g.i("VST3.P [%V.S4, %V.S4, %V.S4], 48(%b)", v[0], v[1], v[2], dst)
	})
}

// transpose8 turns blocks of 4x4 in registers, four to a block of 8x8.
func (g *gen) transpose8() {
	g.function("transpose8", "func(dst *float32, ldd int, src *float32, lds, rows, cols int)",
		"is the transpose of src [rows, cols], both positive multiples of 8; strides in values.")
	dst, src, rows, ldd, lds := g.arg("dst"), g.arg("src"), g.arg("rows"), g.arg("ldd"), g.arg("lds")
	g.i("LSL $2, %u, %d", ldd, ldd)
	g.i("LSL $2, %u, %d", lds, lds)
	g.label("rows")
	cols, s, d := g.arg("cols"), g.gp(), g.gp()
	g.i("MOVD %u, %d", src, s)
	g.i("MOVD %u, %d", dst, d)
	g.label("cols")
	p := g.gp()
	g.i("MOVD %u, %d", s, p)
	r := g.vecs(8)
	for _, x := range r {
		g.loadStep(4, p, lds, x)
	}
	var halves [2][]*reg
	for h := range 2 {
		x := r[4*h:]
		a, b := g.op("trn1.4s", x[0], x[1]), g.op("trn2.4s", x[0], x[1])
		c, e := g.op("trn1.4s", x[2], x[3]), g.op("trn2.4s", x[2], x[3])
		halves[h] = []*reg{g.op("trn1.2d", a, c), g.op("trn1.2d", b, e), g.op("trn2.2d", a, c), g.op("trn2.2d", b, e)}
	}
	for i := range 4 {
		g.i("FSTPQ (%u, %u), (%u)", halves[0][i], halves[1][i], d)
		g.i("ADD %u, %u, %d", ldd, d, d)
	}
	g.i("ADD $16, %u, %d", s, s)
	g.i("SUBS $4, %u, %d", cols, cols)
	g.jump("GT", "cols")
	g.i("ADD %u<<3, %u, %d", lds, src, src)
	g.i("ADD $32, %u, %d", dst, dst)
	g.i("SUBS $8, %u, %d", rows, rows)
	g.jump("GT", "rows")
	g.end()
}
