package main

// numberRows emits the kernels of rows of numbers.
func numberRows(g *gen) {
	if g.isa != neon {
		return
	}
	affine(g)
	g.function("dot", "func(a, b *float32, n int) (ret float32)", "adds n products in four vectors of partial sums.")
	a, b, n, sums := g.arg("a"), g.arg("b"), g.arg("n"), g.sums(4)
	turn := 0
	g.stream(n, 4, []*reg{a, b}, func(at, lanes int) {
		turn++
		g.v("fmla.4s", sums[turn%4], g.load(lanes, a, at, g.vec()), g.load(lanes, b, at, g.vec()))
	})
	g.result(sums)
	g.end()

	g.dots()
	g.mixRows()
	g.addRows()
	g.rotate()
}

func (g *gen) dots() {
	g.function("dots", "func(dst, x, w *float32, ldw, n, rows int)",
		"is dst[r] = the sum of n products of x and row r of w, four rows at a time; ldw in bytes.")
	dst, w, ldw, rows := g.arg("dst"), g.arg("w"), g.arg("ldw"), g.arg("rows")
	n, x, of := g.gp(), g.gp(), g.gps(4)
	g.label("row")
	g.argTo("n", n)
	g.argTo("x", x)
	for _, p := range of {
		g.i("MOVD %u, %d", w, p)
		g.i("ADD %u, %u, %d", ldw, w, w)
	}
	sums := g.sums(4)
	g.stream(n, 2, append([]*reg{x}, of...), func(at, lanes int) {
		v := g.load(lanes, x, at, g.vec())
		for i, p := range of {
			g.v("fmla.4s", sums[i], v, g.load(lanes, p, at, g.vec()))
		}
	})
	g.v("faddp.4s", sums[0], sums[0], sums[1])
	g.v("faddp.4s", sums[2], sums[2], sums[3])
	g.v("faddp.4s", sums[0], sums[0], sums[2])
	g.i("FMOVQ.P %u, 16(%b)", sums[0], dst)
	g.i("SUB $4, %u, %d", rows, rows)
	g.ifNot(rows, "row")
	g.end()
}

func (g *gen) mixRows() {
	g.function("mixRows", "func(dst, x, w *float32, ldw, n int)",
		"is the sum of n rows of w, each times a number of x, of four vectors; ldw in bytes.")
	dst, x, w, ldw, n := g.arg("dst"), g.arg("x"), g.arg("w"), g.arg("ldw"), g.arg("n")
	sums, v, factor := g.sums(4), g.vecs(4), g.vec()
	g.label("mix")
	g.i("FMOVS.P 4(%b), %d", x, factor)
	for i := 0; i < 4; i += 2 {
		g.i("FLDPQ %i(%u), (%d, %d)", 16*i, w, v[i], v[i+1])
	}
	g.i("ADD %u, %u, %d", ldw, w, w)
	for i, s := range sums {
		g.v("fmla.e", s, v[i], factor, 0)
	}
	g.i("SUBS $1, %u, %d", n, n)
	g.jump("NE", "mix")
	for i := 0; i < 4; i += 2 {
		g.i("FSTPQ (%u, %u), %i(%u)", sums[i], sums[i+1], 16*i, dst)
	}
	g.end()
}

func (g *gen) addRows() {
	g.function("addRows", "func(dst *float32, ldd int, src *float32, lds, n, rows int)",
		"adds rows of n values of src to those of dst; strides in bytes.")
	dst, ldd, src, lds := g.arg("dst"), g.arg("ldd"), g.arg("src"), g.arg("lds")
	rows, n, to, from := g.arg("rows"), g.gp(), g.gp(), g.gp()
	g.label("row")
	g.argTo("n", n)
	g.i("MOVD %u, %d", dst, to)
	g.i("MOVD %u, %d", src, from)
	g.stream(n, 4, []*reg{to, from}, func(at, lanes int) {
		g.store(lanes, g.add(g.load(lanes, to, at, g.vec()), g.load(lanes, from, at, g.vec())), to, at)
	})
	g.i("ADD %u, %u, %d", ldd, dst, dst)
	g.i("ADD %u, %u, %d", lds, src, src)
	g.i("SUB $1, %u, %d", rows, rows)
	g.ifNot(rows, "row")
	g.end()
}

func (g *gen) rotate() {
	g.function("rotate", "func(dst, src *float32, ld int, cos, sin *float32, ldc, n, rows int)",
		"is [Rotate] on rows of n pairs; strides in bytes.")
	dst, src, ld, cos, sin, ldc := g.arg("dst"), g.arg("src"), g.arg("ld"), g.arg("cos"), g.arg("sin"), g.arg("ldc")
	rows, n := g.arg("rows"), g.gp()
	g.label("row")
	g.argTo("n", n)
	p := g.gps(6) // both halves of src, of dst, and the angles
	for i, base := range []*reg{src, src, dst, dst, cos, sin} {
		if i == 1 || i == 3 {
			g.i("ADD %u<<2, %u, %d", n, base, p[i])
		} else {
			g.i("MOVD %u, %d", base, p[i])
		}
	}
	g.stream(n, 2, p, func(at, lanes int) {
		u, v := g.load(lanes, p[0], at, g.vec()), g.load(lanes, p[1], at, g.vec())
		c, s := g.load(lanes, p[4], at, g.vec()), g.load(lanes, p[5], at, g.vec())
		x, y := g.mul(c, u), g.mul(s, u)
		g.v("fmls.4s", x, s, v)
		g.v("fmla.4s", y, c, v)
		g.store(lanes, x, p[2], at)
		g.store(lanes, y, p[3], at)
	})
	for _, base := range []*reg{src, dst} {
		g.i("ADD %u, %u, %d", ld, base, base)
	}
	for _, base := range []*reg{cos, sin} {
		g.i("ADD %u, %u, %d", ldc, base, base)
	}
	g.i("SUB $1, %u, %d", rows, rows)
	g.ifNot(rows, "row")
	g.end()
}

func affine(g *gen) {
	if g.isa != neon {
		return
	}
	g.function(g.named("affine", ""), g.numbers("func(dst, src *float32, n int, mean, factor, shift float32)"),
		"is dst = (src-mean)*factor + shift on n values; dst may be src.")
	dst, src, n := g.arg("dst"), g.arg("src"), g.arg("n")
	mean, factor, shift := g.every("mean"), g.every("factor"), g.every("shift")
	g.stream(n, 4, []*reg{dst, src}, func(at, lanes int) {
		g.store(lanes, g.fma(shift, g.sub(g.load(lanes, src, at, g.vec()), mean), factor), dst, at)
	})
	g.end()
}
