package main

import (
	"math"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// fold combines the lanes of v with op and stores the result.
func (g *gen) fold(op vop, v reg.VecVirtual) { g.VMOVSS(g.folded(op, v), g.result()) }

// folded combines the lanes of v with op into lane 0.
func (g *gen) folded(op vop, v reg.VecVirtual) reg.VecVirtual {
	g.Comment("fold the lanes")
	x := v
	if g.wide() {
		h := g.YMM()
		g.VEXTRACTF64X4(operand.U8(1), x, h)
		y := g.YMM()
		op(h, x.AsY(), y)
		x = y
	}
	h := g.XMM()
	g.VEXTRACTF128(operand.U8(1), x.AsY(), h)
	s := g.XMM()
	op(h, x.AsX(), s)
	t := g.XMM()
	g.VSHUFPS(operand.U8(0xee), s, s, t)
	op(t, s, s)
	g.VSHUFPS(operand.U8(0x55), s, s, t)
	op(t, s, s)
	return s
}

// keep zeroes the lanes beyond the tail mask.
func (g *gen) keep(masked bool, x reg.VecVirtual) reg.VecVirtual {
	if !masked {
		return x
	}
	r := g.v()
	if g.wide() {
		g.VMOVAPS_Z(x, reg.K1, r)
	} else {
		g.VANDPS(x, g.mask(), r)
	}
	return r
}

// accs are accumulators that take turns.
func (g *gen) accs(n int) []reg.VecVirtual {
	a := make([]reg.VecVirtual, n)
	for i := range a {
		a[i] = g.v()
		g.zero(a[i])
	}
	return a
}

func (g *gen) foldAll(op vop, a []reg.VecVirtual) { g.VMOVSS(g.foldedAll(op, a), g.result()) }

func (g *gen) foldedAll(op vop, a []reg.VecVirtual) reg.VecVirtual {
	for n := len(a) / 2; n > 0; n /= 2 {
		for i := range n {
			op(a[i+n], a[i], a[i])
		}
	}
	return g.folded(op, a[0])
}

func reduce(g *gen) {
	add := vop(g.VADDPS)

	g.text("sum", "func(src *float32, n int) (ret float32)", "adds n values in four vectors of partial sums.")
	src, n := g.loadArg("src"), g.loadArg("n")
	a := g.accs(4)
	g.stream(n, 4, []reg.GPVirtual{src}, func(d int, masked bool) {
		i := d / g.bytes()
		g.VADDPS(g.get(at(src, d), masked), a[i], a[i])
	})
	g.foldAll(add, a)
	g.ret()

	g.text("sumSquares", "func(src *float32, n int, mean float32) (ret float32)",
		"adds (src[i]-mean)^2 in four vectors of partial sums.")
	src, n = g.loadArg("src"), g.loadArg("n")
	mean := g.bcastArg("mean")
	a = g.accs(4)
	g.stream(n, 4, []reg.GPVirtual{src}, func(d int, masked bool) {
		i := d / g.bytes()
		x := g.keep(masked, g.bin(g.VSUBPS, mean, g.get(at(src, d), masked)))
		g.VFMADD231PS(x, x, a[i])
	})
	g.foldAll(add, a)
	g.ret()

	g.text("addSum", "func(dst, a, b *float32, n int) (ret float32)",
		"is dst = a + b on n values; it returns the sum of dst.")
	dst, pa, pb, n := g.loadArg("dst"), g.loadArg("a"), g.loadArg("b"), g.loadArg("n")
	a = g.accs(4)
	g.stream(n, 4, []reg.GPVirtual{dst, pa, pb}, func(d int, masked bool) {
		i := d / g.bytes()
		x := g.bin(g.VADDPS, g.get(at(pb, d), masked), g.get(at(pa, d), masked))
		g.storeMaybe(masked, x, at(dst, d))
		g.VADDPS(x, a[i], a[i])
	})
	g.foldAll(add, a)
	g.ret()

	g.text("expSum", "func(dst, src *float32, n int, scale, shift float32) (ret float32)",
		"is dst = exp(src*scale - shift) on n values; it returns the sum of dst.")
	dst, src, n = g.loadArg("dst"), g.loadArg("src"), g.loadArg("n")
	scale, shift := g.bcastArg("scale"), g.bcastArg("shift")
	a = g.accs(2)
	g.longStream(n, []reg.GPVirtual{dst, src}, func(d int, masked bool) {
		x := g.get(at(src, d), masked)
		g.VFMSUB213PS(shift, scale, x)
		e := g.exp(x)
		g.storeMaybe(masked, e, at(dst, d))
		sum := a[d/g.bytes()]
		g.VADDPS(g.keep(masked, e), sum, sum)
	})
	g.foldAll(add, a)
	g.ret()

	softmaxes(g)

	g.text("normalize", "func(dst, src, gamma, beta *float32, n int, mean, rstd float32)",
		"is dst = (src-mean)*rstd*gamma + beta on n values.")
	dst, src, pa, pb = g.loadArg("dst"), g.loadArg("src"), g.loadArg("gamma"), g.loadArg("beta")
	n = g.loadArg("n")
	mean = g.bcastArg("mean")
	rstd := g.bcastArg("rstd")
	g.stream(n, 2, []reg.GPVirtual{dst, src, pa, pb}, func(d int, masked bool) {
		x := g.bin(g.VMULPS, rstd, g.bin(g.VSUBPS, mean, g.get(at(src, d), masked)))
		g.VFMADD213PS(g.get(at(pb, d), masked), g.get(at(pa, d), masked), x)
		g.storeMaybe(masked, x, at(dst, d))
	})
	g.ret()

	affine(g)

	g.text("dot", "func(a, b *float32, n int) (ret float32)",
		"adds n products of numbers in four vectors of partial sums.")
	pa, pb, n = g.loadArg("a"), g.loadArg("b"), g.loadArg("n")
	a = g.accs(4)
	g.stream(n, 4, []reg.GPVirtual{pa, pb}, func(d int, masked bool) {
		g.VFMADD231PS(g.get(at(pb, d), masked), g.get(at(pa, d), masked), a[d/g.bytes()])
	})
	g.foldAll(add, a)
	g.ret()

	g.text("dots", "func(dst, x, w *float32, ldw, n, rows int)",
		"is dst[r] = the sum of n products of x and row r of w, four rows at a time; ldw is the bytes from one to the next.")
	dst, w, rows := g.loadArg("dst"), g.loadArg("w"), g.loadArg("rows")
	ldw := g.loadArg("ldw")
	px, n := g.GP64(), g.GP64()
	var of [4]reg.GPVirtual
	for i := range of {
		of[i] = g.GP64()
	}
	g.Label("row")
	g.MOVQ(g.arg("x"), px)
	for i, p := range of {
		g.MOVQ(w, p)
		if i < 3 {
			g.ADDQ(ldw, w)
		}
	}
	g.ADDQ(ldw, w)
	g.MOVQ(g.arg("n"), n)
	a = g.accs(4)
	g.stream(n, 2, append([]reg.GPVirtual{px}, of[:]...), func(d int, masked bool) {
		x := g.get(at(px, d), masked)
		for i, p := range of {
			g.VFMADD231PS(g.get(at(p, d), masked), x, a[i])
		}
	})
	for i, sum := range a {
		g.VMOVSS(g.folded(add, sum), at(dst, 4*i))
	}
	g.ADDQ(imm(16), dst)
	g.SUBQ(imm(4), rows)
	g.JNZ(label("row"))
	g.ret()

	g.text("mixRows", "func(dst, x, w *float32, ldw, n int)",
		"is the sum of n rows of w, each times a number of x, of four vectors; ldw is the bytes from a row to the next.")
	dst, w, n = g.loadArg("dst"), g.loadArg("w"), g.loadArg("n")
	px, ldw = g.loadArg("x"), g.loadArg("ldw")
	a = g.accs(4)
	g.Label("mix")
	factor := g.v()
	g.VBROADCASTSS(at(px, 0), factor)
	for i := range a {
		g.VFMADD231PS(g.get(at(w, i*g.bytes()), false), factor, a[i])
	}
	g.ADDQ(imm(4), px)
	g.ADDQ(ldw, w)
	g.SUBQ(imm(1), n)
	g.JNZ(label("mix"))
	for i, sum := range a {
		g.storeMaybe(false, sum, at(dst, i*g.bytes()))
	}
	g.ret()

	g.text("addRows", "func(dst *float32, ldd int, src *float32, lds, n, rows int)",
		"adds rows of n values to others; ldd and lds are the bytes from one to the next.")
	dst, src, rows = g.loadArg("dst"), g.loadArg("src"), g.loadArg("rows")
	d, s := g.GP64(), g.GP64()
	n = g.GP64()
	g.Label("row")
	g.MOVQ(dst, d)
	g.MOVQ(src, s)
	g.MOVQ(g.arg("n"), n)
	g.stream(n, 2, []reg.GPVirtual{d, s}, func(disp int, masked bool) {
		g.storeMaybe(masked, g.bin(g.VADDPS, g.get(at(s, disp), masked), g.get(at(d, disp), masked)), at(d, disp))
	})
	g.ADDQ(g.arg("ldd"), dst)
	g.ADDQ(g.arg("lds"), src)
	g.SUBQ(imm(1), rows)
	g.JNZ(label("row"))
	g.ret()

	g.text("rotate", "func(dst, src *float32, ld int, cos, sin *float32, ldc, n, rows int)",
		"is dst[i] = a*cos - b*sin and dst[n+i] = a*sin + b*cos with a, b = src[i], src[n+i], for n pairs of each row; ld",
		"are the bytes from a row to the next, ldc those of cos and sin. dst may be src.")
	dst, src = g.loadArg("dst"), g.loadArg("src")
	cos, sin := g.loadArg("cos"), g.loadArg("sin")
	var p [6]reg.GPVirtual
	for i := range p {
		p[i] = g.GP64()
	}
	n = g.GP64()
	g.Label("row")
	g.MOVQ(g.arg("n"), n)
	for i, base := range []reg.GPVirtual{dst, src} {
		g.MOVQ(base, p[2*i])
		g.LEAQ(idx(base, n, 4, 0), p[2*i+1])
	}
	g.MOVQ(cos, p[4])
	g.MOVQ(sin, p[5])
	g.stream(n, 2, p[:], func(d int, masked bool) {
		x, y := g.get(at(p[2], d), masked), g.get(at(p[3], d), masked)
		c, s := g.get(at(p[4], d), masked), g.get(at(p[5], d), masked)
		first, second := g.bin(g.VMULPS, s, y), g.bin(g.VMULPS, s, x)
		g.VFMSUB231PS(c, x, first)
		g.VFMADD231PS(c, y, second)
		g.storeMaybe(masked, first, at(p[0], d))
		g.storeMaybe(masked, second, at(p[1], d))
	})
	g.ADDQ(g.arg("ld"), dst)
	g.ADDQ(g.arg("ld"), src)
	g.ADDQ(g.arg("ldc"), cos)
	g.ADDQ(g.arg("ldc"), sin)
	g.SUBQ(imm(1), g.arg("rows"))
	g.JNZ(label("row"))
	g.ret()

	extreme(g, "max", g.VMAXPS, math.Inf(-1))
	extreme(g, "min", g.VMINPS, math.Inf(1))
}

// softmaxes is softmax of rows in one call: for rows of a few vectors, calls cost as much as the work.
func softmaxes(g *gen) {
	g.text("softmax", "func(dst, src *float32, n, rows int, scale float32)",
		"is dst = exp(src*scale - m) / sum for rows of n values, m being the largest of a row times scale, and sum the sum",
		"of exp; scale >= 0, and dst may be src.")
	dst, src, rows := g.loadArg("dst"), g.loadArg("src"), g.loadArg("rows")
	d, s, n := g.GP64(), g.GP64(), g.GP64()
	begin := func(pass string) {
		g.pass = pass + "_"
		g.MOVQ(dst, d)
		g.MOVQ(src, s)
		g.MOVQ(g.arg("n"), n)
	}
	g.Label("row")
	begin("largest")
	start := g.mov(g.f(math.Inf(-1)))
	a := make([]reg.VecVirtual, 4)
	for i := range a {
		a[i] = g.mov(start)
	}
	g.stream(n, 4, []reg.GPVirtual{s}, func(disp int, masked bool) {
		x := g.get(at(s, disp), masked)
		if masked {
			x = g.within(x, start)
		}
		i := disp / g.bytes()
		g.VMAXPS(a[i], x, a[i]) // a NaN in x leaves the accumulator: its own exponential makes the row NaN
	})
	largest := g.foldedAll(g.VMAXPS, a).AsX()
	g.VMULSS(g.arg("scale"), largest, largest)
	scale, shift := g.bcastArg("scale"), g.v()
	g.VBROADCASTSS(largest, shift)

	begin("exp")
	sums := g.accs(2)
	g.longStream(n, []reg.GPVirtual{d, s}, func(disp int, masked bool) {
		x := g.get(at(s, disp), masked)
		g.VFMSUB213PS(shift, scale, x)
		e := g.exp(x)
		g.storeMaybe(masked, e, at(d, disp))
		sum := sums[disp/g.bytes()]
		g.VADDPS(g.keep(masked, e), sum, sum)
	})
	sum, one, factor := g.foldedAll(g.VADDPS, sums).AsX(), g.XMM(), g.v()
	g.VMOVSS(g.f(1), one)
	g.VDIVSS(sum, one, one)
	g.VBROADCASTSS(one, factor)

	begin("times")
	g.stream(n, 4, []reg.GPVirtual{d}, func(disp int, masked bool) {
		g.storeMaybe(masked, g.bin(g.VMULPS, factor, g.get(at(d, disp), masked)), at(d, disp))
	})
	g.MOVQ(g.arg("n"), n)
	g.LEAQ(idx(dst, n, 4, 0), dst)
	g.LEAQ(idx(src, n, 4, 0), src)
	g.SUBQ(imm(1), rows)
	g.JNZ(label("row"))
	g.ret()
}

// within is x with the lanes beyond the tail mask replaced.
func (g *gen) within(x, beyond reg.VecVirtual) reg.VecVirtual {
	if !g.wide() {
		return g.blend(g.mask(), x, beyond)
	}
	y := g.mov(beyond)
	g.VMOVAPS(x, reg.K1, y)
	return y
}

// extreme writes max or min; worst loses against every value.
func extreme(g *gen, name string, op vop, worst float64) {
	g.text(name, "func(src *float32, n int) (ret float32)", "is the "+name+" of n values, NaN if one is NaN.")
	src, n := g.loadArg("src"), g.loadArg("n")
	start := g.mov(g.f(worst))
	a := make([]reg.VecVirtual, 4)
	for i := range a {
		a[i] = g.mov(start)
	}
	// nan collects NaN lanes: the lanes themselves, or all ones for AVX2.
	nan := g.v()
	g.zero(nan)
	g.stream(n, 4, []reg.GPVirtual{src}, func(d int, masked bool) {
		i := d / g.bytes()
		x := g.get(at(src, d), masked)
		if masked {
			x = g.within(x, start)
		}
		op(a[i], x, a[i]) // a NaN in x leaves the accumulator
		if g.wide() {
			k := g.K()
			g.VCMPPS(operand.U8(predUnord), x, x, k)
			g.VMOVAPS(x, k, nan)
		} else {
			m := g.v()
			g.VCMPPS(operand.U8(predUnord), x, x, m)
			g.VORPS(m, nan, nan)
		}
	})
	for _, i := range []int{2, 1} {
		for j := range i {
			op(a[j+i], a[j], a[j])
		}
	}
	g.fold(op, a[0])
	if g.wide() {
		k := g.K()
		g.VCMPPS(operand.U8(predUnord), nan, nan, k)
		t := g.GP32()
		g.KMOVW(k, t)
		g.TESTL(t, t)
	} else {
		t := g.GP32()
		g.VMOVMSKPS(nan, t)
		g.TESTL(t, t)
	}
	g.JZ(label("clean"))
	g.MOVL(operand.U32(0x7fc00000), g.result())
	g.Label("clean")
	g.ret()
}

// result is the stack slot of the return value.
func (g *gen) result() operand.Mem {
	b, err := g.Return("ret").Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

func affine(g *gen) {
	g.text(g.named("affine", ""), g.numbers("func(dst, src *float32, n int, mean, factor, shift float32)"),
		"is dst = (src-mean)*factor + shift on n values; dst may be src.")
	dst, src, n := g.loadArg("dst"), g.loadArg("src"), g.loadArg("n")
	mean := g.bcastArg("mean")
	factor, offset := g.bcastArg("factor"), g.bcastArg("shift")
	g.stream(n, g.unrolled(4), []reg.GPVirtual{dst, src}, func(d int, masked bool) {
		x := g.bin(g.VSUBPS, mean, g.get(at(src, d), masked))
		g.VFMADD213PS(offset, factor, x)
		g.put(masked, x, at(dst, d))
	})
	g.ret()
}
