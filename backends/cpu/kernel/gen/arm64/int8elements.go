package main

import "fmt"

// int8elements emits functions of codes element by element.
func int8elements(g *gen) {
	if g.isa != neon {
		return
	}
	g.combine()
	g.maxU8()
	g.encode()
	g.nearest()
	g.rowSums()
}

// rowSums adds sixteen codes at a time, then what is left of a run by eight, four, two and one.
func (g *gen) rowSums() {
	g.function("rowSums", "func(dst *int32, src *uint8, rows, k, ld, runs, down, pairs int)",
		"adds to each number of dst the sum of a row, which is runs of k codes, at least one of each, down bytes apart;",
		"rows, of which there is one or more, are ld bytes apart. There are no pairs here.")
	dst, src, rows, ld, down := g.arg("dst"), g.arg("src"), g.arg("rows"), g.arg("ld"), g.arg("down")
	runs, from, p, k, total, last := g.gp(), g.gp(), g.gp(), g.gp(), g.gp(), g.gp()
	sum, x, part := g.vec(), g.vec(), g.vec()
	add := func() {
		g.v("uaddlp.8h", part, x)
		g.v("uadalp.4s", sum, part)
	}
	g.label("row")
	g.argTo("runs", runs)
	g.i("MOVD %u, %d", src, from)
	g.i("MOVW (%u), %d", dst, total)
	g.v("movi.16b", sum, 0)
	g.label("run")
	g.i("MOVD %u, %d", from, p)
	g.argTo("k", k)
	g.i("SUBS $16, %u, %d", k, k)
	g.jump("LT", "few")
	g.label("codes")
	g.i("FMOVQ.P 16(%b), %d", p, x)
	add()
	g.i("SUBS $16, %u, %d", k, k)
	g.jump("GE", "codes")
	g.label("few")
	for bit := 3; bit >= 0; bit-- {
		n := 1 << bit
		skip := fmt.Sprint("no", n)
		g.i("TBZ $%i, %u, "+skip, bit, k)
		g.body[len(g.body)-1].jump = skip
		switch n {
		case 8:
			g.i("FMOVD.P 8(%b), %d", p, x)
			add()
		case 4:
			g.i("FMOVS.P 4(%b), %d", p, x)
			add()
		case 2:
			g.i("MOVBU.P 1(%b), %d", p, last)
			g.i("ADD %u, %u, %d", last, total, total)
			g.i("MOVBU.P 1(%b), %d", p, last)
			g.i("ADD %u, %u, %d", last, total, total)
		case 1:
			g.i("MOVBU (%u), %d", p, last)
			g.i("ADD %u, %u, %d", last, total, total)
		}
		g.label(skip)
	}
	g.i("ADD %u, %u, %d", down, from, from)
	g.i("SUB $1, %u, %d", runs, runs)
	g.ifNot(runs, "run")
	g.v("addv.4s", sum, sum)
	g.i("FMOVS %u, %d", sum, last)
	g.i("ADD %u, %u, %d", last, total, total)
	g.i("MOVW.P %u, 4(%b)", total, dst)
	g.i("ADD %u, %u, %d", ld, src, src)
	g.i("SUB $1, %u, %d", rows, rows)
	g.ifNot(rows, "row")
	g.end()
}

// widen makes four vectors of integers of 16 codes.
func (g *gen) widen(x *reg) []*reg {
	low, high := g.op("uxtl.8h", x), g.op("uxtl2.8h", x)
	return []*reg{g.op("uxtl.4s", low), g.op("uxtl2.4s", low), g.op("uxtl.4s", high), g.op("uxtl2.4s", high)}
}

// codes are the zero point and the limits in vectors.
func (g *gen) codes() (zero, lo, hi *reg) {
	zero, lo, hi = g.vec(), g.vec(), g.vec()
	g.codeArgs(zero, lo, hi)
	return zero, lo, hi
}

func (g *gen) combine() {
	g.function("combine", "func(dst, a, b *uint8, n int, fa, fb, add float32, zero, lo, hi int)",
		"is dst = clamp(round(a*fa + b*fb + add) + zero, lo, hi) on n codes, a positive multiple of 64; without b its term",
		"is left out.")
	dst, a, b, n := g.arg("dst"), g.arg("a"), g.arg("b"), g.arg("n")
	fa, fb, add := g.every("fa"), g.every("fb"), g.every("add")
	zero, lo, hi := g.codes()
	loop := func(name string, two bool) {
		g.label(name)
		x, y := g.vec(), g.vec()
		g.i("FMOVQ.P 16(%b), %d", a, x)
		if two {
			g.i("FMOVQ.P 16(%b), %d", b, y)
		}
		v := g.widen(x)
		for _, r := range v {
			g.v("scvtf.4s", r, r)
			g.v("fmul.4s", r, r, fa)
		}
		if two {
			for i, r := range g.widen(y) {
				g.v("scvtf.4s", r, r)
				g.v("fmul.4s", r, r, fb)
				g.v("fadd.4s", v[i], v[i], r)
			}
		}
		for _, r := range v {
			g.v("fadd.4s", r, r, add)
			g.v("fcvtns.4s", r, r)
		}
		g.packInts(v, zero, lo, hi)
		g.i("FMOVQ.P %u, 16(%b)", v[0], dst)
		g.i("SUBS $16, %u, %d", n, n)
		g.jump("GT", name)
	}
	g.ifZero(b, "one")
	loop("two", true)
	g.ret()
	loop("one", false)
	g.end()
}

func (g *gen) maxU8() {
	g.function("maxU8", "func(dst, src *uint8, n int)", "is dst = max(dst, src) on n codes, a positive multiple of 64.")
	dst, src, n := g.arg("dst"), g.arg("src"), g.arg("n")
	g.whole(n, 32, func() {
		x, y, a, b := g.vec(), g.vec(), g.vec(), g.vec()
		g.i("FLDPQ.P 32(%b), (%d, %d)", src, x, y)
		g.i("FLDPQ (%u), (%d, %d)", dst, a, b)
		g.v("umax.16b", a, a, x)
		g.v("umax.16b", b, b, y)
		g.i("FSTPQ.P (%u, %u), 32(%b)", a, b, dst)
	})
}

func (g *gen) encode() {
	g.function("encode", "func(dst *uint8, src *float32, n int, scale, lo, hi float32, zero int)",
		"is dst = round(clamp(src/scale, lo, hi)) + zero on n values, a positive multiple of 64, NaN counting as 0. lo is",
		"-zero and hi 255-zero, which are the limits of a byte: narrowing keeps them.")
	dst, src, n := g.arg("dst"), g.arg("src"), g.arg("n")
	scale, zero := g.every("scale"), g.everyOf("zero", "8h")
	g.whole(n, 16, func() {
		v := g.vecs(4)
		g.i("FLDPQ.P 32(%b), (%d, %d)", src, v[0], v[1])
		g.i("FLDPQ.P 32(%b), (%d, %d)", src, v[2], v[3])
		for i, x := range v {
			v[i] = g.op("fcvtns.4s", g.div(x, scale)) // NaN is 0
		}
		for _, x := range [][]*reg{v[:2], v[2:]} {
			g.v("sqxtn.4h", x[0], x[0])
			g.v("sqxtn2.8h", x[0], x[1])
			g.v("sqadd.8h", x[0], x[0], zero)
		}
		g.v("sqxtun.8b", v[0], v[0])
		g.v("sqxtun2.16b", v[0], v[2])
		g.i("FMOVQ.P %u, 16(%b)", v[0], dst)
	})
}

// nearest rounds scaled sums to codes and says which blocks hold results close to a half.
func (g *gen) nearest() {
	g.function("nearest", "func(dst *uint8, src *float32, n int, scale, shift *float32, zero, flip int, far float32, "+
		"near *uint8)",
		"is dst = (clamp(round(src*scale + shift) + zero, 0, 255)) ^ flip on n values, a positive multiple of 64.",
		"near gets a byte for each 64: not 0 when a result is further than far from what it is rounded to.")
	dst, src, n, near := g.arg("dst"), g.arg("src"), g.arg("n"), g.arg("near")
	scale, shift := g.arg("scale"), g.arg("shift")
	zero, flip, far := g.everyOf("zero", "8h"), g.everyOf("flip", "16b"), g.every("far")
	least, last := g.v("movi.16b", g.vec(), 0), g.v("movi.16b", g.vec(), 255)
	lo, hi := g.bits(0xc5000000), g.bits(0x45000000) // 2048: beyond all codes, within 16 bits
	most := g.vec()
	g.whole(n, 64, func() {
		g.v("movi.16b", most, 0)
		for range 4 {
			v := g.vecs(4)
			for i := range v {
				x, f, s := g.vec(), g.vec(), g.vec()
				g.i("FMOVQ.P 16(%b), %d", src, x)
				g.i("FMOVQ.P 16(%b), %d", scale, f)
				g.i("FMOVQ.P 16(%b), %d", shift, s)
				x = g.clampTo(g.add(g.mul(x, f), s), lo, hi)
				r := g.op("frintn.4s", x)
				g.v("fmax.4s", most, most, g.op("fabd.4s", x, r))
				v[i] = g.op("fcvtns.4s", x)
			}
			g.packInts(v, zero, least, last)
			g.v("eor.16b", v[0], v[0], flip)
			g.i("FMOVQ.P %u, 16(%b)", v[0], dst)
		}
		beyond := g.op("fcmgt.4s", most, far)
		g.v("umaxv.4s", beyond, beyond)
		flag := g.gp()
		g.i("FMOVS %u, %d", beyond, flag)
		g.i("MOVB.P %u, 1(%b)", flag, near)
	})
}
