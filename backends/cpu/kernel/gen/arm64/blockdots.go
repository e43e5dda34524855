package main

import "fmt"

// blockDots are products of rows of numbers in digits of 8 bits with codes of 4 or 8 bits, of which each block has a
// scale.
func blockDots(g *gen) {
	if g.isa != dotprod {
		return
	}
	for _, bits := range []int{4, 8} {
		for _, digits := range []int{2, 3} {
			for _, rows := range []int{1, 4} {
				g.blockDots(bits, digits, rows)
			}
		}
	}
}

// blockDots multiplies rows with a panel of 16 columns: one row with all of them at once, four with four columns at a
// time. Vectors, all virtual: results [row][vector], and sums of a block [row][digit][vector]; for each row and digit
// the digits of 16 depths; the codes of eight depths; the mask of codes of 4 bits, or the sign bits of bytes.
func (g *gen) blockDots(bits, digits, rows int) {
	g.function(fmt.Sprintf("blockDots%dd%dx%d", bits, digits, rows),
		"func(dst *float32, ldd int, a *byte, lda int, w *byte, blocks, steps, cols int)",
		fmt.Sprintf("is [BlockDots.Multiply] of %d rows and up to 16 columns, of codes of %d bits and numbers of %d", rows,
			bits, digits),
		"digits; a block has steps of 32 codes, ldd and lda are in bytes.")
	nv := 4 / rows
	dst, ldd, lda, panel, cols := g.arg("dst"), g.arg("ldd"), g.arg("lda"), g.arg("w"), g.arg("cols")
	w, scales, blocks, steps := g.gp(), g.gp(), g.gp(), g.gp()
	a, heads := g.gps(rows), g.gps(rows)
	change := g.v("movi.16b", g.vec(), map[int]int{4: 15, 8: 128}[bits])
	results, sums := g.vecs(rows*nv), g.vecs(rows*digits*nv)
	sum := func(r, d, j int) *reg { return sums[(r*digits+d)*nv+j] }
	g.label("columns")
	g.argTo("a", a[0])
	for r := 1; r < rows; r++ {
		g.i("ADD %u, %u, %d", lda, a[r-1], a[r])
	}
	g.i("MOVD %u, %d", panel, w)
	g.argTo("blocks", blocks)
	for _, x := range results {
		g.v("movi.16b", x, 0)
	}
	g.label("block")
	g.i("MOVD %u, %d", w, scales)
	g.i("ADD $64, %u, %d", w, w)
	for r := range rows {
		for d := range digits {
			for j := range nv {
				switch x := sum(r, d, j); {
				case bits == 8: // codes less 128 are signed bytes
					g.v("movi.16b", x, 0)
				case j == 0:
					g.i("FMOVS %i(%u), %d", 4+4*d, a[r], x)
					g.v("dup.4s", x, x, 0)
				default:
					g.v("mov.16b", x, sum(r, d, 0))
				}
			}
		}
		g.i("MOVD %u, %d", a[r], heads[r])
		g.i("ADD $%i, %u, %d", 4+4*digits, a[r], a[r])
	}
	g.argTo("steps", steps)
	g.label("step")
	for half := range 2 {
		parts := g.vecs(rows * digits)
		for i, p := range parts {
			g.i("FMOVQ %i(%u), %d", 32*(i%digits)+16*half, a[i/digits], p)
		}
		multiply := func(codes *reg, j, k int) {
			for i, p := range parts {
				g.v("sdot.e", sum(i/digits, i%digits, j), codes, p, k)
			}
		}
		for i := range bits / 2 { // 64 bytes each
			for j := range nv {
				codes := g.vec()
				g.i("FMOVQ %i(%u), %d", 64*(bits/2*half+i)+16*j, w, codes)
				if bits == 8 {
					multiply(g.v("eor.16b", codes, codes, change), j, i)
					continue
				}
				high := g.op("ushr.4s", codes, 4)
				multiply(g.v("and.16b", codes, codes, change), j, 2*i)
				multiply(g.v("and.16b", high, high, change), j, 2*i+1)
			}
		}
	}
	g.i("ADD $%i, %u, %d", 64*bits, w, w)
	for r := range rows {
		g.i("ADD $%i, %u, %d", 32*digits, a[r], a[r])
	}
	g.i("SUBS $1, %u, %d", steps, steps)
	g.jump("NE", "step")
	for j := range nv {
		scale := g.vec()
		g.i("FMOVQ %i(%u), %d", 16*j, scales, scale)
		for r := range rows {
			low, high := sum(r, digits-1, j), sum(r, digits-2, j)
			g.v("shl.4s", high, high, 8)
			g.v("add.4s", low, low, high)
			g.v("scvtf.4s", low, low)
			if digits == 3 {
				top := sum(r, 0, j)
				g.v("scvtf.4s", top, top)
				g.v("fmla.4s", low, top, g.bits(0x47800000)) // 2^16
			}
			unit := g.vec()
			g.i("FMOVS (%u), %d", heads[r], unit)
			g.v("fmla.4s", results[r*nv+j], low, g.op("fmul.e", scale, unit, 0))
		}
	}
	g.i("SUBS $1, %u, %d", blocks, blocks)
	g.jump("NE", "block")
	g.storeDots(rows, nv, results, dst, ldd, cols)
	if rows > 1 {
		g.i("ADD $16, %u, %d", dst, dst)
		g.i("ADD $16, %u, %d", panel, panel)
		g.i("CMP $0, %u", cols)
		g.jump("GT", "columns")
	}
	g.end()
}

// storeDots stores the first cols numbers of rows of vectors. It takes the number that it has stored from cols.
func (g *gen) storeDots(rows, nv int, v []*reg, dst, ldd, cols *reg) {
	p := g.gp()
	for j := range nv {
		few, next := fmt.Sprint("few", j), fmt.Sprint("next", j)
		g.i("MOVD %u, %d", dst, p)
		g.i("SUBS $4, %u, %d", cols, cols)
		g.jump("LT", few)
		for r := range rows {
			g.i("FMOVQ %u, %i(%u)", v[r*nv+j], 16*j, p)
			if r < rows-1 {
				g.i("ADD %u, %u, %d", ldd, p, p)
			}
		}
		g.jump("", next)
		g.label(few)
		for lane := range 3 {
			g.i("MOVD %u, %d", dst, p)
			g.i("CMN $%i, %u", 4-lane, cols) // lane+1 numbers or more are left
			g.jump("LE", next)
			for r := range rows {
				x := g.op("dup.4s", v[r*nv+j], lane)
				g.i("FMOVS %u, %i(%u)", x, 16*j+4*lane, p)
				if r < rows-1 {
					g.i("ADD %u, %u, %d", ldd, p, p)
				}
			}
		}
		g.label(next)
	}
}
