package main

import "fmt"

// lineSteps take the next elements of lines that lie side by side: they find the best ones, or add up.
func lineSteps(g *gen) {
	if g.isa != neon {
		return
	}
	for _, smallest := range []bool{false, true} {
		for _, last := range []bool{false, true} {
			g.better(smallest, last)
		}
	}
	for _, exclusive := range []bool{false, true} {
		g.running(exclusive)
	}
}

// better compares x with the best so far. A NaN is better than any number.
func (g *gen) better(smallest, last bool) {
	name, doc := "Max", "largest"
	if smallest {
		name, doc = "Min", "smallest"
	}
	if last {
		name += "Last"
	}
	g.function("better"+name, "func(best *float32, at *int32, x *float32, n int, k int32)",
		fmt.Sprintf("is [Better] on n numbers, a multiple of 8, where the best are the %s ones.", doc))
	best, at, x, n, k := g.arg("best"), g.arg("at"), g.arg("x"), g.arg("n"), g.every("k")
	g.whole(n, 4, func() {
		v, b, i := g.vec(), g.vec(), g.vec()
		g.i("FMOVQ.P 16(%b), %d", x, v)
		g.load(4, best, 0, b)
		g.load(4, at, 0, i)
		larger, less := v, b
		if smallest {
			larger, less = b, v
		}
		number := g.op("fcmeq.4s", v, v)
		var m *reg
		if last {
			m = g.v("orn.16b", number, g.op("fcmge.4s", larger, less), number)
		} else {
			first := g.op("bic.16b", g.op("fcmeq.4s", b, b), number) // the first NaN
			m = g.v("orr.16b", first, first, g.op("fcmgt.4s", larger, less))
		}
		g.v("bit.16b", b, v, m)
		g.v("bit.16b", i, k, m)
		g.i("FMOVQ.P %u, 16(%b)", b, best)
		g.i("FMOVQ.P %u, 16(%b)", i, at)
	})
}

// running adds numbers to sums of float64 and stores these, or those before, rounded.
func (g *gen) running(exclusive bool) {
	name, doc := "running", "the sums with src"
	if exclusive {
		name, doc = "runningBefore", "the sums without src"
	}
	g.function(name, "func(dst, src *float32, sums *float64, n int)",
		fmt.Sprintf("adds src to sums and rounds %s to dst; n is a multiple of 8.", doc))
	dst, src, sums, n := g.arg("dst"), g.arg("src"), g.arg("sums"), g.arg("n")
	g.whole(n, 4, func() {
		x, a, b := g.vec(), g.vec(), g.vec()
		g.i("FMOVQ.P 16(%b), %d", src, x)
		g.i("FLDPQ (%u), (%d, %d)", sums, a, b)
		y, z := g.op("fadd.2d", a, g.op("fcvtl.2d", x)), g.op("fadd.2d", b, g.op("fcvtl2.2d", x))
		g.i("FSTPQ.P (%u, %u), 32(%b)", y, z, sums)
		if exclusive {
			y, z = a, b
		}
		g.i("FMOVQ.P %u, 16(%b)", g.v("fcvtn2.4s", g.op("fcvtn.2s", y), z), dst)
	})
}
