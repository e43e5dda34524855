package kernel

import "unsafe"

const intCall = 32 << 20 // operations of one assembly call

// intPanel computes rows r0 <= i < r1 of the panel that starts at column j, in
// tiles of two neighbouring heights that divide the rows evenly; into sums unless
// that is nil.
func intPanel(g *GemmInt8, sums []float32, r0, r1, j int) {
	t := fast.int8
	if t == nil || g.K == 0 || t.merged != merged(g.K) {
		intPanelGeneric(g, sums, r0, r1, j)
		return
	}
	w := intWidth(g.N, j)
	p := intTileCall{g: g, tiles: t, ldb: IntDepth * w, words: ceilDiv(g.K, IntDepth), vectors: min(w/t.cols, len(t.mr))}
	if t.merged {
		p.ldb = mergedLists(g.taps(), p.words)
	}
	for t.mr[p.vectors-1] == 0 {
		p.vectors--
	}
	mr := t.mr[p.vectors-1]
	width := p.vectors * t.cols
	most := max(mr, intCall/(2*width*g.taps()*p.words*IntDepth)/mr*mr)
	for at := 0; at < min(w, g.N-j); at += width {
		p.cols, p.j = min(width, g.N-j-at), j+at
		p.vectors = ceilDiv(p.cols, t.cols)
		if t.merged {
			p.b = &g.B[panelBytes(g.taps(), g.K, p.j)]
		} else {
			p.b = &g.B[panelBytes(g.taps(), g.K, j)+at*IntDepth]
		}
		for i := r0; i < r1; {
			rows := min(most, r1-i)
			blocks := ceilDiv(rows, mr)
			high := ceilDiv(rows, blocks)
			n := rows - blocks*(high-1)
			if sums != nil {
				p.sums = sums[(i-r0)*g.N:]
			}
			p.blocks(i, high, n)
			if n < blocks {
				if sums != nil {
					p.sums = sums[(i-r0+n*high)*g.N:]
				}
				p.blocks(i+n*high, high-1, blocks-n)
			}
			i += rows
		}
	}
}

// intTileCall holds the part that calls for tiles of the same columns share.
type intTileCall struct {
	g             *GemmInt8
	tiles         *intTiles
	ldb, words    int // of B; words of a run
	vectors, cols int // of the tile
	j             int // its first column
	b             *int8
	sums          []float32 // rows from the first one on; nil: codes are stored
}

// blocks computes n tiles of mr rows from row i on.
func (p *intTileCall) blocks(i, mr, n int) {
	g := p.g
	if p.sums != nil {
		p.call(i, mr, n, (*uint8)(unsafe.Pointer(&p.sums[p.j])), 4*g.N, nil)
		return
	}
	p.call(i, mr, n, &g.C[i*g.LDC+p.j], g.LDC, &g.Post.Scale[p.j])
}

func (p *intTileCall) call(i, mr, blocks int, c *uint8, ldc int, scale *float32) {
	var init, factors, rows *int32
	var add, low *float32
	g, q := p.g, &p.g.Post
	if g.Factors != nil {
		factors, rows = &g.Factors[p.j], &g.Rows[i]
	}
	if q.Init != nil {
		init = &q.Init[p.j]
	}
	if q.Add != nil && scale != nil {
		add = &q.Add[p.j]
	}
	if q.Low != nil && scale != nil {
		low = &q.Low[p.j]
	}
	if g.Ind == nil {
		p.tiles.direct[p.vectors-1][mr-1](blocks, p.words, &g.A[i*g.LDA], g.LDA, p.b, p.ldb, c, ldc, init, factors, rows,
			scale, add, low, q.Zero, int(q.Lo), int(q.Hi), p.cols)
		return
	}
	p.tiles.indirect[p.vectors-1][mr-1](blocks, g.Ind.taps, p.words, &g.Ind.tab[i], 4*g.Ind.rows, unsafe.SliceData(g.A),
		unsafe.SliceData(g.Zero),
		p.b, p.ldb, c, ldc, init, factors, rows, scale, add, low, q.Zero, int(q.Lo), int(q.Hi), p.cols)
}
