//go:build !noasm

package kernel

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

type (
	dotFn  func(blocks, k int, a *uint8, lda int, b *int8, ldb int, c *uint8, ldc int, init *int32, scale, add *float32, zero, lo, hi, cols int)
	idotFn func(blocks, taps, k int, tab *int32, ldt int, base, zeros *uint8, b *int8, ldb int, c *uint8, ldc int, init *int32, scale, add *float32, zero, lo, hi, cols int)
)

// intTiles are the microkernels of one level, by vectors per row and by rows, both less one.
type intTiles struct {
	cols     int    // of one vector
	mr       [4]int // most rows; 0: there are no such tiles
	direct   [4][8]dotFn
	indirect [4][8]idotFn
}

var (
	intTilesAVX2 = intTiles{
		cols: 8, mr: [4]int{4},
		direct:   [4][8]dotFn{{dot1x8AVX2, dot2x8AVX2, dot3x8AVX2, dot4x8AVX2}},
		indirect: [4][8]idotFn{{idot1x8AVX2, idot2x8AVX2, idot3x8AVX2, idot4x8AVX2}},
	}
	intTilesVNNI = intTiles{
		cols: 16, mr: [4]int{8, 8, 8, 6},
		direct: [4][8]dotFn{
			{dot1x16AVX512, dot2x16AVX512, dot3x16AVX512, dot4x16AVX512, dot5x16AVX512, dot6x16AVX512, dot7x16AVX512, dot8x16AVX512},
			{dot1x32AVX512, dot2x32AVX512, dot3x32AVX512, dot4x32AVX512, dot5x32AVX512, dot6x32AVX512, dot7x32AVX512, dot8x32AVX512},
			{dot1x48AVX512, dot2x48AVX512, dot3x48AVX512, dot4x48AVX512, dot5x48AVX512, dot6x48AVX512, dot7x48AVX512, dot8x48AVX512},
			{dot1x64AVX512, dot2x64AVX512, dot3x64AVX512, dot4x64AVX512, dot5x64AVX512, dot6x64AVX512},
		},
		indirect: [4][8]idotFn{
			{idot1x16AVX512, idot2x16AVX512, idot3x16AVX512, idot4x16AVX512, idot5x16AVX512, idot6x16AVX512, idot7x16AVX512, idot8x16AVX512},
			{idot1x32AVX512, idot2x32AVX512, idot3x32AVX512, idot4x32AVX512, idot5x32AVX512, idot6x32AVX512, idot7x32AVX512, idot8x32AVX512},
			{idot1x48AVX512, idot2x48AVX512, idot3x48AVX512, idot4x48AVX512, idot5x48AVX512, idot6x48AVX512, idot7x48AVX512, idot8x48AVX512},
			{idot1x64AVX512, idot2x64AVX512, idot3x64AVX512, idot4x64AVX512, idot5x64AVX512, idot6x64AVX512},
		},
	}
	dotTiles *intTiles
)

var _ = register(func(isa ISA) {
	dotTiles, dwInt, combineK, maxU8K, encodeK = nil, nil, combineGeneric, maxU8Generic, encodeGeneric
	if isa >= AVX2 {
		dotTiles, combineK, maxU8K, encodeK = &intTilesAVX2, combineAVX2, maxU8AVX2, encodeAVX2
	}
	if isa == AVX512 {
		combineK, maxU8K, encodeK = combineAVX512, maxU8AVX512, encodeAVX512
	}
	if isa == AVX512 && cpu.X86.HasAVX512VNNI {
		dotTiles, dwInt = &intTilesVNNI, dotWindowAVX512
	}
})

// intPanel computes rows r0 <= i < r1 of the panel that starts at column j, in
// tiles of two neighbouring heights that divide the rows evenly.
func intPanel(g *GemmInt8, r0, r1, j int) {
	t := dotTiles
	if t == nil || g.K == 0 {
		intPanelGeneric(g, r0, r1, j)
		return
	}
	w, words := intWidth(g.N, j), ceilDiv(g.K, IntDepth)
	vectors := w / 16
	if t.cols < 16 {
		vectors = 1
	}
	mr := t.mr[vectors-1]
	width := vectors * t.cols
	most := max(mr, intCall/(2*width*g.taps()*words*IntDepth)/mr*mr)
	for at := 0; at < min(w, g.N-j); at += width {
		cols := min(width, g.N-j-at)
		for i := r0; i < r1; {
			rows := min(most, r1-i)
			blocks := ceilDiv(rows, mr)
			high := ceilDiv(rows, blocks)
			n := rows - blocks*(high-1)
			intCallTile(g, t, i, j, at, w, cols, vectors, high, n)
			if n < blocks {
				intCallTile(g, t, i+n*high, j, at, w, cols, vectors, high-1, blocks-n)
			}
			i += rows
		}
	}
}

// intCallTile computes blocks*mr rows from row i of columns at <= c < at+cols of a panel of w columns. Tiles that store whole vectors write to
// memory of their own where C has no room for them.
func intCallTile(g *GemmInt8, t *intTiles, i, j, at, w, cols, vectors, mr, blocks int) {
	words := ceilDiv(g.K, IntDepth)
	b := &g.B[g.taps()*words*IntDepth*j+at*IntDepth]
	j += at
	if cols < t.cols && t.cols == 8 {
		var own [4 * 8]uint8
		for n := range blocks {
			intCallC(g, t, i+n*mr, j, w, cols, vectors, mr, 1, b, &own[0], 8)
			for r := range mr {
				copy(g.C[(i+n*mr+r)*g.LDC+j:][:cols], own[8*r:])
			}
		}
		return
	}
	intCallC(g, t, i, j, w, cols, vectors, mr, blocks, b, &g.C[i*g.LDC+j], g.LDC)
}

func intCallC(g *GemmInt8, t *intTiles, i, j, w, cols, vectors, mr, blocks int, b *int8, c *uint8, ldc int) {
	var init *int32
	var add *float32
	q := &g.Post
	if q.Init != nil {
		init = &q.Init[j]
	}
	if q.Add != nil {
		add = &q.Add[j]
	}
	words := ceilDiv(g.K, IntDepth)
	if g.Ind == nil {
		t.direct[vectors-1][mr-1](blocks, words, &g.A[i*g.LDA], g.LDA, b, 4*w, c, ldc, init, &q.Scale[j], add, q.Zero, int(q.Lo), int(q.Hi), cols)
		return
	}
	t.indirect[vectors-1][mr-1](blocks, g.Ind.taps, words, &g.Ind.tab[i], 4*g.Ind.rows, unsafe.SliceData(g.A), unsafe.SliceData(g.Zero),
		b, 4*w, c, ldc, init, &q.Scale[j], add, q.Zero, int(q.Lo), int(q.Hi), cols)
}
