package kernel

// intPanelGeneric computes rows r0 <= i < r1 of the panel that starts at column j.
func intPanelGeneric(g *GemmInt8, r0, r1, j int) {
	w, words := intWidth(g.N, j), ceilDiv(g.K, IntDepth)
	per := words * IntDepth * w
	b := g.B[g.taps()*words*IntDepth*j:]
	cols := min(w, g.N-j)
	for i := r0; i < r1; i++ {
		var acc [IntCols]int32
		if g.Post.Init != nil {
			copy(acc[:], g.Post.Init[j:j+cols])
		}
		if g.Ind == nil {
			dotWords(acc[:w], g.A[i*g.LDA:][:g.K], b)
		} else {
			for t := range g.Ind.taps {
				x := g.Zero
				if o := g.Ind.tab[t*g.Ind.rows+i]; o >= 0 {
					x = g.A[o:]
				}
				dotWords(acc[:w], x[:g.K], b[t*per:])
			}
		}
		for c, s := range acc[:cols] {
			g.C[i*g.LDC+j+c] = g.Post.code(s, j+c)
		}
	}
}

// dotWords adds the products of one run with a panel [words][columns][4].
func dotWords(acc []int32, x []uint8, b []int8) {
	w := len(acc)
	for len(x) > 0 {
		var v [IntDepth]int32
		n := min(IntDepth, len(x))
		for i, c := range x[:n] {
			v[i] = int32(c)
		}
		x = x[n:]
		if v == [IntDepth]int32{} {
			b = b[IntDepth*w:]
			continue
		}
		row := b[: IntDepth*w : IntDepth*w]
		for j := range acc {
			q := row[IntDepth*j:][:IntDepth]
			acc[j] += v[0]*int32(q[0]) + v[1]*int32(q[1]) + v[2]*int32(q[2]) + v[3]*int32(q[3])
		}
		b = b[IntDepth*w:]
	}
}
