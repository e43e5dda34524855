package main

// peak emits a loop of 48 independent fused multiply-adds, 16 at a time. The operands are arbitrary numbers, because a
// CPU may run faster on zeros than on real data.
func peak(g *gen) {
	if g.isa != neon {
		return
	}
	g.function("peakFMA", "func(n int, data *float32)", "issues 48*n vector fused multiply-adds on registers; n > 0.",
		"data has 18 vectors.")
	n, data, v := g.arg("n"), g.arg("data"), g.vecs(18)
	for i, x := range v {
		g.load(4, data, 16*i, x)
	}
	g.label("loop")
	for k := range 3 {
		for i := range 16 {
			g.v("fmla.4s", v[i], v[16], v[16+k%2])
		}
	}
	g.i("SUB $1, %u, %d", n, n)
	g.ifNot(n, "loop")
	g.end()
}
