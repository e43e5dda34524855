package kernel

// pairs reports whether two full panels are computed at once.
func pairs() bool { return fast.gemm != nil && fast.gemm.mr[2] > 0 }

var noNext [1]float32

// panelTile is the place of tiles of a whole panel and few rows, where two vectors are less than a panel.
const panelTile = 3

// wholePanel reports whether tiles of a whole panel compute all rows, and their last vector is not empty.
func (t *tileArgs) wholePanel(tiles *gemmTiles) bool {
	few := &tiles.direct[panelTile]
	return t.m <= len(few) && few[t.m-1] != nil && t.ind == nil && t.ldb == PanelCols &&
		t.cols > PanelCols-tiles.lanes && t.cols <= PanelCols
}

// gemmPanel computes m rows by up to one panel of columns, in tiles of two
// neighbouring heights that divide the rows evenly: a low tile at the end would
// cost nearly as much as a full one. A direct call, so that t stays on the stack.
func gemmPanel(t *tileArgs) {
	tiles := fast.gemm
	if tiles == nil {
		gemmPanelGeneric(t)
		return
	}
	width := 2 * tiles.lanes
	if t.cols > PanelCols {
		width = 2 * PanelCols
	}
	if t.wholePanel(tiles) {
		t.setFetchStep(t.m)
		tileCall(t, 0, 0, t.cols, panelTile, t.m, 1)
		return
	}
	for j := 0; j < t.cols; j += width {
		cols := min(width, t.cols-j)
		nv := 0
		switch {
		case cols > PanelCols:
			nv = 2
		case cols > tiles.lanes:
			nv = 1
		}
		mr := tiles.mr[nv]
		t.setFetchStep(mr)
		for i := 0; i < t.m; {
			rows := min(t.maxRowsAtOnce, t.m-i)
			if fetch := t.fetchRows(mr); fetch > 0 && rows > fetch+mr {
				rows = fetch
			}
			blocks := (rows + mr - 1) / mr
			high := (rows + blocks - 1) / blocks
			n := rows - blocks*(high-1)
			tileCall(t, i, j, cols, nv, high, n)
			if n < blocks {
				tileCall(t, i+n*high, j, cols, nv, high-1, blocks-n)
			}
			i += rows
		}
	}
}

func tileCall(t *tileArgs, i, j, cols, nv, mr, blocks int) {
	var bias, res *float32
	after := 0
	next, step := &noNext[0], 0
	if len(t.next) > 0 {
		next, step = &t.next[0], 4*t.fetchStep
		n := t.fetched(blocks)
		more := max(0, n-len(t.next)) // of the panel after next, which follows if it is whole
		t.next, t.afterNext = t.next[min(len(t.next), n):], t.afterNext[min(len(t.afterNext), more):]
		if len(t.next) == 0 {
			t.next, t.afterNext = t.afterNext, nil
		}
	}
	if t.bias != nil {
		bias = &t.bias[j]
	}
	if t.res != nil {
		res = &t.res[i*t.ldr+j]
	}
	if t.after {
		after = 1
	}
	c := &t.c[i*t.ldc+j]
	var b *float32
	if len(t.b) > 0 {
		b = &t.b[j]
	}
	ldb := 4 * t.ldb
	if nv == 2 {
		ldb = 4 * t.pair
	}
	if t.ind == nil {
		var a *float32
		if t.k > 0 {
			a = &t.a[i*t.lda]
		}
		fast.gemm.direct[nv][mr-1](blocks, t.k, a, 4*t.lda, b, ldb, c, 4*t.ldc, bias, res, 4*t.ldr, t.lo, t.hi, cols, after,
			next, step)
		return
	}
	var tab *int32
	var base, zero *float32
	if t.taps > 0 {
		tab = &t.ind.tab[t.tap*t.ind.rows+t.row+i]
	}
	if len(t.a) > 0 {
		base = &t.a[0]
	}
	if len(t.zero) > 0 {
		zero = &t.zero[0]
	}
	fast.gemm.indirect[nv][mr-1](blocks, t.taps, t.k, tab, 4*t.ind.rows, base, zero, b, ldb, c, 4*t.ldc, bias, res,
		4*t.ldr, t.lo, t.hi, cols, after, next, step)
}
