package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// whole walks n > 0 values, a multiple of the vector length, a vector at a time.
func (g *gen) whole(n reg.GPVirtual, body func()) {
	g.Label("loop")
	body()
	g.SUBQ(imm(g.lanes), n)
	g.JG(label("loop"))
	g.ret()
}

// fours walks n values, a positive multiple of the vector length, by four vectors and then by one; body gets the number
// of a vector, and takes its values from src to dst.
func (g *gen) fours(n, dst, src reg.GPVirtual, sizes [2]int, body func(i int)) {
	g.Label("fours")
	g.SUBQ(imm(4*g.lanes), n)
	g.JLT(label("rest"))
	for i := range 4 {
		body(i)
	}
	g.ADDQ(imm(4*sizes[0]*g.lanes), dst)
	g.ADDQ(imm(4*sizes[1]*g.lanes), src)
	g.JMP(label("fours"))
	g.Label("rest")
	g.ADDQ(imm(4*g.lanes), n)
	g.JZ(label("done"))
	g.Label("one")
	body(0)
	g.ADDQ(imm(sizes[0]*g.lanes), dst)
	g.ADDQ(imm(sizes[1]*g.lanes), src)
	g.SUBQ(imm(g.lanes), n)
	g.JG(label("one"))
	g.Label("done")
	g.ret()
}

// half is the register of half the width, for 16-bit values.
func (g *gen) half() reg.VecVirtual {
	if g.wide() {
		return g.YMM()
	}
	return g.XMM()
}

func convert(g *gen) {
	if !g.wide() { // one form serves both levels
		g.transpose8()
	}
	g.interleave3()
	g.text("halfToFloat", "func(dst *float32, src *uint16, n int)",
		"widens n binary16 values; n is a positive multiple of the vector length.")
	dst, src, n := g.loadArg("dst"), g.loadArg("src"), g.loadArg("n")
	g.fours(n, dst, src, [2]int{4, 2}, func(i int) {
		x := g.v()
		g.VCVTPH2PS(at(src, 2*i*g.lanes), x)
		g.VMOVUPS(x, at(dst, 4*i*g.lanes))
	})
	g.text("floatToHalf", "func(dst *uint16, src *float32, n int)",
		"rounds n values to binary16, ties to even; n is a positive multiple of the vector length.")
	dst, src, n = g.loadArg("dst"), g.loadArg("src"), g.loadArg("n")
	g.fours(n, dst, src, [2]int{2, 4}, func(i int) {
		h := g.half()
		g.VCVTPS2PH(operand.U8(0), g.mov(at(src, 4*i*g.lanes)), h)
		g.VMOVUPS(h, at(dst, 2*i*g.lanes))
	})
	for _, signed := range []bool{false, true} {
		g.dequantize(signed)
	}
	g.roundTrip()
	g.text("mix4", "func(dst, a, b, c, d *float32, n int, wa, wb, wc, wd float32)",
		"is dst = a*wa + b*wb + c*wc + d*wd on n values.")
	pd, pa, pb, pc, pe := g.loadArg("dst"), g.loadArg("a"), g.loadArg("b"), g.loadArg("c"), g.loadArg("d")
	n = g.loadArg("n")
	wa, wb, wc, wd := g.bcastArg("wa"), g.bcastArg("wb"), g.bcastArg("wc"), g.bcastArg("wd")
	g.stream(n, 2, []reg.GPVirtual{pd, pa, pb, pc, pe}, func(d int, masked bool) {
		r := g.bin(g.VMULPS, wa, g.get(at(pa, d), masked))
		g.VFMADD231PS(g.get(at(pb, d), masked), wb, r)
		g.VFMADD231PS(g.get(at(pc, d), masked), wc, r)
		g.VFMADD231PS(g.get(at(pe, d), masked), wd, r)
		g.storeMaybe(masked, r, at(pd, d))
	})
	g.ret()
}

// roundTrip quantizes and dequantizes at once.
func (g *gen) roundTrip() {
	g.text("roundTrip", "func(dst, src *float32, n int, scale, lo, hi, back float32)",
		"is dst = round(clamp(src/scale, lo, hi)) * back on n values, NaN counting as 0.")
	dst, src, n := g.loadArg("dst"), g.loadArg("src"), g.loadArg("n")
	scale, lo, hi, back := g.bcastArg("scale"), g.bcastArg("lo"), g.bcastArg("hi"), g.bcastArg("back")
	g.stream(n, 4, []reg.GPVirtual{dst, src}, func(d int, masked bool) {
		x := g.bin(g.VDIVPS, scale, g.get(at(src, d), masked))
		if g.wide() {
			g.VCMPPS(operand.U8(7), x, x, reg.K2) // ordered with itself
			g.VMOVAPS_Z(x, reg.K2, x)
		} else {
			m := g.v()
			g.VCMPPS(operand.U8(7), x, x, m)
			g.VANDPS(m, x, x)
		}
		g.VMAXPS(lo, x, x)
		g.VMINPS(hi, x, x)
		g.VCVTPS2DQ(x, x)
		g.VCVTDQ2PS(x, x)
		g.VMULPS(back, x, x)
		g.storeMaybe(masked, x, at(dst, d))
	})
	g.ret()
}

func (g *gen) dequantize(signed bool) {
	name, typ, widen := "dequantizeU8", "uint8", vop(g.VPMOVZXBD)
	if signed {
		name, typ, widen = "dequantizeS8", "int8", g.VPMOVSXBD
	}
	g.text(name, fmt.Sprintf("func(dst *float32, src *%s, n int, scale float32, zero int32)", typ),
		"is dst = float32(src-zero) * scale; n is a positive multiple of the vector length.")
	dst, src, n := g.loadArg("dst"), g.loadArg("src"), g.loadArg("n")
	scale := g.bcastArg("scale")
	z := g.v()
	g.VBROADCASTSS(g.arg("zero"), z)
	g.fours(n, dst, src, [2]int{4, 1}, func(k int) {
		i := g.v()
		widen(at(src, k*g.lanes), i)
		g.VPSUBD(z, i, i)
		x := g.v()
		g.VCVTDQ2PS(i, x)
		g.VMULPS(scale, x, x)
		g.VMOVUPS(x, at(dst, 4*k*g.lanes))
	})
}

// interleave3 merges three planes: lane e of the output is channel e%3 of pixel e/3.
func (g *gen) interleave3() {
	g.text("interleave3", "func(dst, a, b, c *float32, n int)",
		"is dst[3*i:] = a[i], b[i], c[i]; n is a positive multiple of the vector length.")
	dst, n := g.loadArg("dst"), g.loadArg("n")
	planes := []reg.GPVirtual{g.loadArg("a"), g.loadArg("b"), g.loadArg("c")}
	var index [3]reg.VecVirtual
	for j := range index {
		m := g.StaticGlobal(fmt.Sprintf("pixel%d%s", j, g.name))
		g.DataAttributes(attr.RODATA | attr.NOPTR)
		for l := range g.lanes {
			g.AddDatum(4*l, operand.U32((j*g.lanes+l)/3))
		}
		index[j] = g.mov(m)
	}
	masks := [3]reg.OpmaskPhysical{reg.K2, reg.K3, reg.K4}
	bitsOf := func(first, ch int) (b uint64) { // lanes l with (first+l)%3 == ch
		for l := range g.lanes {
			if (first+l)%3 == ch {
				b |= 1 << l
			}
		}
		return b
	}
	if g.wide() {
		t := g.GP32()
		for i, k := range masks {
			g.MOVL(operand.U32(bitsOf(0, i)), t)
			g.KMOVW(t, k)
		}
	}
	g.whole(n, func() {
		var x [3]reg.VecVirtual
		for i, p := range planes {
			x[i] = g.mov(at(p, 0))
			g.ADDQ(imm(g.bytes()), p)
		}
		for j := range 3 {
			out := g.v()
			g.VPERMPS(x[0], index[j], out)
			for ch := 1; ch < 3; ch++ {
				if g.wide() { // (16*j+l)%3 == ch where l%3 == (ch-16*j)%3
					g.VPERMPS(x[ch], index[j], masks[((ch-j*g.lanes)%3+3)%3], out)
					continue
				}
				y := g.v()
				g.VPERMPS(x[ch], index[j], y)
				g.VBLENDPS(operand.U8(bitsOf(j*g.lanes, ch)), y, out, out)
			}
			g.VMOVUPS(out, at(dst, j*g.bytes()))
		}
		g.ADDQ(imm(3*g.bytes()), dst)
	})
}

// transpose8 is Transpose on 8x8 blocks held in registers.
func (g *gen) transpose8() {
	g.text("transpose8", "func(dst *float32, ldd int, src *float32, lds, rows, cols int)",
		"is the transpose of src [rows, cols], both positive multiples of 8; strides in values.")
	dst, src, rows := g.loadArg("dst"), g.loadArg("src"), g.loadArg("rows")
	ldd, lds := g.loadArg("ldd"), g.loadArg("lds")
	g.SHLQ(operand.U8(2), ldd)
	g.SHLQ(operand.U8(2), lds)
	cols, s, d := g.GP64(), g.GP64(), g.GP64()
	g.Label("rows")
	g.MOVQ(g.arg("cols"), cols)
	g.MOVQ(src, s)
	g.MOVQ(dst, d)
	g.Label("cols")
	p := g.GP64()
	g.MOVQ(s, p)
	var r [8]reg.VecVirtual
	for i := range r {
		r[i] = g.mov(at(p, 0))
		g.ADDQ(lds, p)
	}
	var t, u [8]reg.VecVirtual
	for i := 0; i < 8; i += 2 {
		t[i] = g.bin(func(o ...operand.Op) { g.VUNPCKLPS(o...) }, r[i+1], r[i])
		t[i+1] = g.bin(func(o ...operand.Op) { g.VUNPCKHPS(o...) }, r[i+1], r[i])
	}
	for i := 0; i < 8; i += 4 {
		for j := range 2 {
			for k, c := range []uint8{0x44, 0xee} {
				v := g.v()
				g.VSHUFPS(operand.U8(c), t[i+2+j], t[i+j], v)
				u[i+2*j+k] = v
			}
		}
	}
	g.MOVQ(d, p)
	for _, c := range []uint8{0x20, 0x31} {
		for i := range 4 {
			v := g.v()
			g.VPERM2F128(operand.U8(c), u[4+i], u[i], v)
			g.VMOVUPS(v, at(p, 0))
			g.ADDQ(ldd, p)
		}
	}
	g.ADDQ(imm(32), s)
	g.LEAQ(idx(d, ldd, 8, 0), d)
	g.SUBQ(imm(8), cols)
	g.JG(label("cols"))
	g.LEAQ(idx(src, lds, 8, 0), src)
	g.ADDQ(imm(32), dst)
	g.SUBQ(imm(8), rows)
	g.JG(label("rows"))
	g.ret()
}
