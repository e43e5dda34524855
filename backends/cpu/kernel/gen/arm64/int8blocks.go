package main

// blockLoop multiplies one run by instructions that add eight products for each of two rows and two columns: unsigned
// codes of A, signed ones of B. The rows and b move on. Vectors: from 0 on sums [pair of rows][pair of columns], with a
// row without use in the last pair where rows are odd; 24-26 eight codes of each of two rows;
// 27-30 words of B for eight columns, two of each; 31 what they become: eight codes of each of two columns, the first
// and the third of four, or the others.
func (g *gen) blockLoop(t intTile, v [32]*reg, row []*reg, b *reg) {
	pairs := (t.mr + 1) / 2
	a, w, mixed := v[24:24+pairs], v[27:31], v[31]
	k, ldb, b1 := g.arg("k"), g.arg("ldb"), g.gp()
	multiply := func(column int, x *reg) {
		for i := range pairs {
			g.v("usmmla.4s", v[i*2*t.nv+column], a[i], x)
		}
	}
	// words makes pairs of columns of words of B and multiplies them; load gets what of eight columns.
	words := func(load func(half int)) {
		for half := range t.nv / 2 {
			load(half)
			for i := range 2 {
				g.v("trn1.4s", mixed, w[i], w[2+i])
				g.v("trn2.4s", w[i], w[i], w[2+i])
				multiply(4*half+2*i, mixed)
				multiply(4*half+2*i+1, w[i])
			}
		}
	}
	g.comment("two words of k: load 8 codes of each row of A, words of B, multiply and add")
	g.i("ADD %u, %u, %d", ldb, b, b1)
	g.i("LSL $1, %u, %d", ldb, ldb)
	g.i("SUBS $2, %u, %d", k, k)
	g.jump("LT", "few")
	g.label("loop")
	for i, x := range a {
		g.i("FMOVD.P 8(%b), %d", row[2*i], x)
		if 2*i+1 < t.mr {
			g.i("VLD1.P 8(%b), %V.D[1]", row[2*i+1], x)
		}
	}
	words(func(half int) {
		g.i("FLDPQ %i(%u), (%d, %d)", 32*half, b, w[0], w[1])
		g.i("FLDPQ %i(%u), (%d, %d)", 32*half, b1, w[2], w[3])
	})
	g.i("ADD %u, %u, %d", ldb, b, b)
	g.i("ADD %u, %u, %d", ldb, b1, b1)
	g.i("SUBS $2, %u, %d", k, k)
	g.jump("GE", "loop")
	g.label("few")
	g.i("ADDS $2, %u, %d", k, k)
	g.jump("EQ", "done")
	for i, x := range a {
		g.i("FMOVS.P 4(%b), %d", row[2*i], x)
		if 2*i+1 < t.mr {
			g.i("VLD1.P 4(%b), %V.S[2]", row[2*i+1], x)
		}
	}
	words(func(half int) {
		g.i("FLDPQ %i(%u), (%d, %d)", 32*half, b, w[0], w[1])
		g.v("movi.16b", w[2], 0)
		g.v("movi.16b", w[3], 0)
	})
	g.i("ADD %u>>1, %u, %d", ldb, b, b)
	g.label("done")
}

// blockRows makes rows of the sums of pairs, with columns in order, and adds what sums begin with.
func (g *gen) blockRows(t intTile, v [32]*reg, start int) {
	first := v[24]
	for i := 0; i < t.mr; i += 2 {
		// The pairs of columns of two rows take as many vectors as the rows; a vector of each row replaces two of them,
		// and the upper row's come after those of the lower.
		s := v[i*t.nv : i*t.nv+2*t.nv]
		upper := v[25 : 25+t.nv]
		for j := range t.nv {
			g.v("zip2.4s", upper[j], s[2*j], s[2*j+1])
			g.v("zip1.4s", s[j], s[2*j], s[2*j+1])
		}
		for j := range t.nv {
			g.i("FMOVQ %i(RSP), %d", start+16*j, first)
			g.v("add.4s", s[j], s[j], first)
			g.v("add.4s", s[t.nv+j], upper[j], first)
		}
	}
}
