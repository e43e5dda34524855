package main

import "math"

// sums are four vectors that take turns.
func (g *gen) sums(n int) (a []*reg) {
	for range n {
		a = append(a, g.v("movi.16b", g.vec(), 0))
	}
	return a
}

// result stores the sum of all lanes as the result.
func (g *gen) result(a []*reg) {
	for n := len(a) / 2; n > 0; n /= 2 {
		for i := range n {
			g.v("fadd.4s", a[i], a[i], a[i+n])
		}
	}
	s := g.op("faddp.4s", a[0], a[0])
	g.v("faddp.2s", s, s)
	g.storeResult(s)
}

func (g *gen) storeResult(s *reg) {
	_, slot := g.slot("ret")
	g.i("FMOVS %u, "+slot, s)
}

// keep makes lanes from the given number on zeros.
func (g *gen) keep(lanes int, x *reg) *reg {
	switch lanes {
	case 2:
		g.v("fmov.d", x, x)
	case 1:
		g.v("fmov.s", x, x)
	}
	return x
}

func reduce(g *gen) {
	if g.isa != neon {
		return
	}
	turn := 0
	next := func(a []*reg) *reg {
		turn++
		return a[turn%len(a)]
	}
	g.function("sum", "func(src *float32, n int) (ret float32)", "adds n values in four vectors of partial sums.")
	src, n, a := g.arg("src"), g.arg("n"), g.sums(4)
	g.stream(n, 4, []*reg{src}, func(at, lanes int) {
		s := next(a)
		g.v("fadd.4s", s, s, g.load(lanes, src, at, g.vec()))
	})
	g.result(a)
	g.end()

	g.function("sumSquares", "func(src *float32, n int, mean float32) (ret float32)",
		"adds (src[i]-mean)^2 in four vectors of partial sums.")
	src, n, a = g.arg("src"), g.arg("n"), g.sums(4)
	mean := g.every("mean")
	g.stream(n, 4, []*reg{src}, func(at, lanes int) {
		x := g.keep(lanes, g.sub(g.load(lanes, src, at, g.vec()), mean))
		g.v("fmla.4s", next(a), x, x)
	})
	g.result(a)
	g.end()

	g.function("addSum", "func(dst, a, b *float32, n int) (ret float32)",
		"is dst = a + b on n values; it returns the sum of dst.")
	dst, pa, pb, n, a := g.arg("dst"), g.arg("a"), g.arg("b"), g.arg("n"), g.sums(4)
	g.stream(n, 4, []*reg{dst, pa, pb}, func(at, lanes int) {
		x := g.add(g.load(lanes, pa, at, g.vec()), g.load(lanes, pb, at, g.vec()))
		g.store(lanes, x, dst, at)
		s := next(a)
		g.v("fadd.4s", s, s, x)
	})
	g.result(a)
	g.end()

	g.function("expSum", "func(dst, src *float32, n int, scale, shift float32) (ret float32)",
		"is dst = exp(src*scale - shift) on n values; it returns the sum of dst.")
	dst, src, n, a = g.arg("dst"), g.arg("src"), g.arg("n"), g.sums(4)
	scale, shift := g.every("scale"), g.every("shift")
	g.v("fneg.4s", shift, shift)
	g.stream(n, 4, []*reg{dst, src}, func(at, lanes int) {
		e := g.exp(g.fma(shift, g.load(lanes, src, at, g.vec()), scale))
		g.store(lanes, e, dst, at)
		s := next(a)
		g.v("fadd.4s", s, s, g.keep(lanes, e))
	})
	g.result(a)
	g.end()

	g.function("normalize", "func(dst, src, gamma, beta *float32, n int, mean, rstd float32)",
		"is dst = (src-mean)*rstd*gamma + beta on n values.")
	dst, src, pa, pb, n = g.arg("dst"), g.arg("src"), g.arg("gamma"), g.arg("beta"), g.arg("n")
	mean, rstd := g.every("mean"), g.every("rstd")
	g.stream(n, 4, []*reg{dst, src, pa, pb}, func(at, lanes int) {
		x := g.mul(g.sub(g.load(lanes, src, at, g.vec()), mean), rstd)
		r := g.load(lanes, pb, at, g.vec())
		g.store(lanes, g.v("fmla.4s", r, x, g.load(lanes, pa, at, g.vec())), dst, at)
	})
	g.end()

	extreme(g, "max", math.Inf(-1))
	extreme(g, "min", math.Inf(1))
}

// extreme writes max or min; worst loses against every value. The instructions let NaN win.
func extreme(g *gen, name string, worst float64) {
	g.function(name, "func(src *float32, n int) (ret float32)", "is the "+name+" of n values, NaN if one is NaN.")
	src, n := g.arg("src"), g.arg("n")
	var a []*reg
	for range 4 {
		a = append(a, g.copy(g.f(worst)))
	}
	turn := 0
	g.stream(n, 4, []*reg{src}, func(at, lanes int) {
		x := g.load(lanes, src, at, g.vec())
		switch lanes {
		case 2:
			g.v("dup.2d", x, x, 0)
		case 1:
			g.v("dup.4s", x, x, 0)
		}
		turn++
		g.v("f"+name+".4s", a[turn%4], a[turn%4], x)
	})
	for _, i := range []int{2, 1} {
		for j := range i {
			g.v("f"+name+".4s", a[j], a[j], a[j+i])
		}
	}
	g.storeResult(g.op("f"+name+"v", a[0]))
	g.end()
}
