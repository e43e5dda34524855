package main

import "fmt"

// halfRows multiply one or two rows of numbers with 32 columns of binary16. Vectors, all virtual: eight sums a row,
// four factors a row, and the columns of one row.
func halfRows(g *gen) {
	if g.isa != neon {
		return
	}
	const vectors, line = 8, 128 // line: bytes from one row of columns to the next
	for _, rows := range []int{1, 2} {
		g.function(fmt.Sprintf("halfRows%d", rows), "func(dst *float32, ldd int, x *float32, ldx int, w *uint16, n int)",
			fmt.Sprintf("is [HalfMatrix.Multiply] of %d rows and %d columns, whose n rows are 64 numbers long; ldd and", rows,
				4*vectors), "ldx are in bytes.")
		dst, ldd, w, n, x := g.arg("dst"), g.arg("ldd"), g.arg("w"), g.arg("n"), []*reg{g.arg("x")}
		var sums [][]*reg
		for r := range rows {
			sums = append(sums, g.sums(vectors))
			if r > 0 {
				p := g.gp()
				g.i("ADD %u, %u, %d", g.arg("ldx"), x[0], p)
				x = append(x, p)
			}
		}
		part := func(lanes int) {
			factors := g.vecs(rows)
			for r, p := range x {
				g.i(moves[lanes]+".P %i(%b), %d", 4*lanes, p, factors[r])
			}
			for k := range lanes {
				for i := 0; i < vectors; i += 4 {
					a, b := g.vec(), g.vec()
					g.i("FLDPQ %i(%u), (%d, %d)", line*k+8*i, w, a, b)
					for j, wide := range []*reg{g.op("fcvtl.4s", a), g.op("fcvtl2.4s", a), g.op("fcvtl.4s", b),
						g.op("fcvtl2.4s", b)} {
						for r := range rows {
							g.v("fmla.e", sums[r][i+j], wide, factors[r], k)
						}
					}
				}
			}
			g.i("ADD $%i, %u, %d", line*lanes, w, w)
		}
		g.i("SUBS $4, %u, %d", n, n)
		g.jump("LT", "last")
		g.label("rows")
		part(4)
		g.i("SUBS $4, %u, %d", n, n)
		g.jump("GE", "rows")
		g.label("last")
		g.i("ADDS $4, %u, %d", n, n)
		g.jump("EQ", "done")
		g.label("row")
		part(1)
		g.i("SUBS $1, %u, %d", n, n)
		g.jump("NE", "row")
		g.label("done")
		for r := range rows {
			for i := 0; i < vectors; i += 2 {
				g.i("FSTPQ (%u, %u), %i(%u)", sums[r][i], sums[r][i+1], 16*i, dst)
			}
			if r < rows-1 {
				g.i("ADD %u, %u, %d", ldd, dst, dst)
			}
		}
		g.end()
	}
}
