package main

// overlapStep counts the boxes that a turn compares.
const overlapStep = 16

// overlap compares a box with others, whose numbers lie in rows.
func overlap(g *gen) {
	if g.isa != neon {
		return
	}
	g.function("overlaps", "func(others *float32, ld, n int, box *float32, limit float32) (ret uint64)",
		"is [Overlaps] on n boxes, a multiple of 16: not 0 when there is one. ld counts bytes.")
	ld, n, box, limit := g.arg("ld"), g.arg("n"), g.arg("box"), g.every("limit")
	rows, own := []*reg{g.arg("others")}, g.vecs(5)
	for i, r := range own {
		g.i("VLD1R.P 4(%b), [%W.S4]", box, r)
		if i > 0 {
			p := g.gp()
			g.i("ADD %u, %u, %d", ld, rows[i-1], p)
			rows = append(rows, p)
		}
	}
	zero, found := g.v("movi.16b", g.vec(), 0), g.gp()
	g.label("loop")
	var any *reg
	for range overlapStep / 8 {
		var x [5][]*reg
		for i, p := range rows {
			x[i] = g.vecs(2)
			g.i("FLDPQ.P 32(%b), (%d, %d)", p, x[i][0], x[i][1])
		}
		for v := range 2 {
			side := func(k int) *reg {
				low, high := g.op("fmax.4s", x[k][v], own[k]), g.op("fmin.4s", x[k+2][v], own[k+2])
				return g.op("fmax.4s", g.sub(high, low), zero)
			}
			both := g.mul(side(0), side(1))
			more := g.op("fcmgt.4s", g.div(both, g.sub(g.add(x[4][v], own[4]), both)), limit)
			if any == nil {
				any = more
			} else {
				any = g.op("orr.16b", any, more)
			}
		}
	}
	g.i("FMOVS %u, %d", g.op("umaxv.4s", any), found)
	g.ifNot(found, "done")
	g.i("SUBS $%i, %u, %d", overlapStep, n, n)
	g.jump("GT", "loop")
	g.label("done")
	g.setArg("ret", found)
	g.end()
}
