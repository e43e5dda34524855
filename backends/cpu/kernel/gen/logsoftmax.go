package main

import (
	"math"

	"github.com/mmcloughlin/avo/reg"
)

// logSoftmaxes are logarithms of softmax, row by row.
func logSoftmaxes(g *gen) {
	expTotals(g)
	g.text("logSoftmax", "func(dst, src *float32, n, rows int, scale float32)",
		"is dst = src*scale - m - log(sum) for rows of n values, m being the largest of a row times scale, and sum the",
		"sum of exp(src*scale - m); scale >= 0, and dst may be src.")
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
	a := make([]reg.VecVirtual, 2)
	for i := range a {
		a[i] = g.mov(start)
	}
	g.stream(n, 2, []reg.GPVirtual{s}, func(disp int, masked bool) {
		x := g.get(at(s, disp), masked)
		if masked {
			x = g.within(x, start)
		}
		i := disp / g.bytes()
		g.VMAXPS(a[i], x, a[i]) // a NaN in x leaves the accumulator: its own exponential makes the row NaN
	})
	largest := g.foldedAll(g.VMAXPS, a).AsX()
	g.VMULSS(g.arg("scale"), largest, largest)
	shift := g.v()
	g.VBROADCASTSS(largest, shift)

	begin("exp")
	scale := g.bcastArg("scale")
	sums := g.accs(2)
	g.longStream(n, []reg.GPVirtual{s}, func(disp int, masked bool) {
		x := g.get(at(s, disp), masked)
		g.VFMSUB213PS(shift, scale, x)
		sum := sums[disp/g.bytes()]
		g.VADDPS(g.keep(masked, g.expBelow(x)), sum, sum) // x is 0 at most, but for rounding
	})
	sum := g.v()
	g.VBROADCASTSS(g.foldedAll(g.VADDPS, sums).AsX(), sum)
	whole := g.log(sum)

	begin("less")
	scale = g.bcastArg("scale")
	g.stream(n, 2, []reg.GPVirtual{d, s}, func(disp int, masked bool) {
		x := g.get(at(s, disp), masked)
		g.VFMSUB213PS(shift, scale, x)
		g.storeMaybe(masked, g.bin(g.VSUBPS, whole, x), at(d, disp))
	})
	g.MOVQ(g.arg("n"), n)
	g.LEAQ(idx(dst, n, 4, 0), dst)
	g.LEAQ(idx(src, n, 4, 0), src)
	g.SUBQ(imm(1), rows)
	g.JNZ(label("row"))
	g.ret()
}

// expTotals adds up exponentials, of which nothing else is kept.
func expTotals(g *gen) {
	g.text("expTotal", "func(src *float32, n int, scale, shift float32) (ret float32)",
		"is the sum of exp(src*scale - shift) of n values, where these are 0 at most, but for rounding.")
	src, n := g.loadArg("src"), g.loadArg("n")
	scale, shift := g.bcastArg("scale"), g.bcastArg("shift")
	a := g.accs(2)
	g.longStream(n, []reg.GPVirtual{src}, func(disp int, masked bool) {
		x := g.get(at(src, disp), masked)
		g.VFMSUB213PS(shift, scale, x)
		sum := a[disp/g.bytes()]
		g.VADDPS(g.keep(masked, g.expBelow(x)), sum, sum)
	})
	g.foldAll(g.VADDPS, a)
	g.ret()
}
