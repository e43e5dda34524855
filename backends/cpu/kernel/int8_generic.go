package kernel

import "unsafe"

// intPanelGeneric computes rows r0 <= i < r1 of the panel that starts at column j, into sums unless that is nil.
func intPanelGeneric(g *GemmInt8, sums []float32, r0, r1, j int) {
	w, words := intWidth(g.N, j), ceilDiv(g.K, IntDepth)
	per := words * IntDepth * w
	b := g.B[panelBytes(g.taps(), g.K, j):]
	cols := min(w, g.N-j)
	for i := r0; i < r1; i++ {
		var acc [IntCols]int32
		if g.Post.Init != nil {
			copy(acc[:], g.Post.Init[j:j+cols])
		}
		if g.Factors != nil {
			for c, f := range g.Factors[j : j+cols] {
				acc[c] += pairProduct(f, g.Rows[i])
			}
		}
		if merged(g.K) {
			for c := 0; c < cols; c += mergedCols {
				g.dotMerged(acc[c:][:mergedCols], i, j+c)
			}
		} else {
			for t := range g.taps() {
				dotWords(acc[:w], g.run(i, t), b[t*per:])
			}
		}
		if sums != nil {
			for c, s := range acc[:cols] {
				sums[(i-r0)*g.N+j+c] = float32(s)
			}
			continue
		}
		for c, s := range acc[:cols] {
			g.C[i*g.LDC+j+c] = g.Post.code(s, j+c)
		}
	}
}

// run returns tap t of row i of A.
func (g *GemmInt8) run(i, t int) []uint8 {
	if g.Ind == nil {
		return g.A[i*g.LDA:][:g.K]
	}
	if at := g.Ind.tab[t*g.Ind.rows+i]; at >= 0 {
		return g.A[at:][:g.K]
	}
	return g.Zero[:g.K]
}

// dotMerged adds the products of row i with the group that starts at column j.
func (g *GemmInt8) dotMerged(acc []int32, i, j int) {
	taps, words := g.taps(), ceilDiv(g.K, IntDepth)
	lists, packed := groupOf(g.B[panelBytes(taps, g.K, j):], taps, words)
	for t := range taps {
		x := g.run(i, t)
		for n, w := range lists[t*(mergedHead+words):][mergedHead:][:words] {
			b, from := &packed[t*words+n], IntDepth*int(w)
			for k, v := range x[from:min(from+IntDepth, g.K)] {
				for c := range acc {
					acc[c] += int32(v) * int32(b[c*IntDepth+k])
				}
			}
		}
	}
}

// dotWords adds the products of one run with a panel [words][columns][4].
func dotWords(acc []int32, x []uint8, b []int8) {
	w := len(acc)
	for ; len(x) >= IntDepth; x = x[IntDepth:] {
		x0, x1, x2, x3 := int32(x[0]), int32(x[1]), int32(x[2]), int32(x[3])
		row := unsafe.Slice((*[IntDepth]int8)(unsafe.Pointer(&b[: IntDepth*w : IntDepth*w][0])), w)
		b = b[IntDepth*w:]
		for j, q := range row {
			acc[j] += x0*int32(q[0]) + x1*int32(q[1]) + x2*int32(q[2]) + x3*int32(q[3])
		}
	}
	for i, v := range x {
		for j := range acc {
			acc[j] += int32(v) * int32(b[IntDepth*j+i])
		}
	}
}
