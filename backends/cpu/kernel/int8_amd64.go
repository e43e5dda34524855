//go:build !noasm

package kernel

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

type (
	dotFn func(blocks, k int, a *uint8, lda int, b *int8, ldb int, c *uint8, ldc int, init *int32, scale, add *float32,
		zero, lo, hi, cols int)
	idotFn func(blocks, taps, k int, tab *int32, ldt int, base, zeros *uint8, b *int8, ldb int, c *uint8, ldc int,
		init *int32, scale, add *float32, zero, lo, hi, cols int)
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
			{dot1x16AVX512, dot2x16AVX512, dot3x16AVX512, dot4x16AVX512, dot5x16AVX512, dot6x16AVX512, dot7x16AVX512,
				dot8x16AVX512},
			{dot1x32AVX512, dot2x32AVX512, dot3x32AVX512, dot4x32AVX512, dot5x32AVX512, dot6x32AVX512, dot7x32AVX512,
				dot8x32AVX512},
			{dot1x48AVX512, dot2x48AVX512, dot3x48AVX512, dot4x48AVX512, dot5x48AVX512, dot6x48AVX512, dot7x48AVX512,
				dot8x48AVX512},
			{dot1x64AVX512, dot2x64AVX512, dot3x64AVX512, dot4x64AVX512, dot5x64AVX512, dot6x64AVX512},
		},
		indirect: [4][8]idotFn{
			{idot1x16AVX512, idot2x16AVX512, idot3x16AVX512, idot4x16AVX512, idot5x16AVX512, idot6x16AVX512, idot7x16AVX512,
				idot8x16AVX512},
			{idot1x32AVX512, idot2x32AVX512, idot3x32AVX512, idot4x32AVX512, idot5x32AVX512, idot6x32AVX512, idot7x32AVX512,
				idot8x32AVX512},
			{idot1x48AVX512, idot2x48AVX512, idot3x48AVX512, idot4x48AVX512, idot5x48AVX512, idot6x48AVX512, idot7x48AVX512,
				idot8x48AVX512},
			{idot1x64AVX512, idot2x64AVX512, idot3x64AVX512, idot4x64AVX512, idot5x64AVX512, idot6x64AVX512},
		},
	}
	dotTiles *intTiles
)

var _ = register(func(isa ISA) {
	dotTiles, dotFast, combineK, maxU8K, encodeK = nil, false, combineGeneric, maxU8Generic, encodeGeneric
	nearestK = nearestGeneric
	if isa >= AVX2 {
		dotTiles, combineK, maxU8K, encodeK = &intTilesAVX2, combineAVX2, maxU8AVX2, encodeAVX2
		nearestK = nearestAVX2
	}
	if isa == AVX512 {
		combineK, maxU8K, encodeK, nearestK = combineAVX512, maxU8AVX512, encodeAVX512, nearestAVX512
	}
	if isa == AVX512 && cpu.X86.HasAVX512VNNI {
		dotTiles, dotFast = &intTilesVNNI, true
	}
})

// intPanel computes rows r0 <= i < r1 of the panel that starts at column j, in
// tiles of two neighbouring heights that divide the rows evenly; into sums unless
// that is nil.
func intPanel(g *GemmInt8, sums []float32, r0, r1, j int) {
	t := dotTiles
	if t == nil || g.K == 0 {
		intPanelGeneric(g, sums, r0, r1, j)
		return
	}
	p := intTileCall{g: g, tiles: t, w: intWidth(g.N, j), words: ceilDiv(g.K, IntDepth)}
	p.vectors = p.w / 16
	if t.cols < 16 {
		p.vectors = 1
	}
	mr := t.mr[p.vectors-1]
	width := p.vectors * t.cols
	most := max(mr, intCall/(2*width*g.taps()*p.words*IntDepth)/mr*mr)
	for at := 0; at < min(p.w, g.N-j); at += width {
		p.cols, p.j = min(width, g.N-j-at), j+at
		p.b = &g.B[g.taps()*p.words*IntDepth*j+at*IntDepth]
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

// intTileCall is what calls for tiles of the same columns share.
type intTileCall struct {
	g             *GemmInt8
	tiles         *intTiles
	w, words      int // columns of the panel, words of a run
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
	var init *int32
	var add *float32
	g, q := p.g, &p.g.Post
	if q.Init != nil {
		init = &q.Init[p.j]
	}
	if q.Add != nil && scale != nil {
		add = &q.Add[p.j]
	}
	if g.Ind == nil {
		p.tiles.direct[p.vectors-1][mr-1](blocks, p.words, &g.A[i*g.LDA], g.LDA, p.b, 4*p.w, c, ldc, init, scale, add, q.Zero,
			int(q.Lo), int(q.Hi), p.cols)
		return
	}
	p.tiles.indirect[p.vectors-1][mr-1](blocks, g.Ind.taps, p.words, &g.Ind.tab[i], 4*g.Ind.rows, unsafe.SliceData(g.A),
		unsafe.SliceData(g.Zero),
		p.b, 4*p.w, c, ldc, init, scale, add, q.Zero, int(q.Lo), int(q.Hi), p.cols)
}

// dotWindow computes positions of a depthwise convolution. A direct call, so that taps stay on the stack.
func (d *DepthwiseInt8) dotWindow(taps **uint8, groups, n int, out *uint8, init *int32, add *float32) {
	q, w := &d.Post, &d.Win
	if n > 2 && w.Kernel[1] == 3 && w.Kernel[2] == 3 && max(1, w.Stride[2]) == 1 && max(1, w.Dilation[2]) == 1 &&
		init != nil {
		dotSlideAVX512(d.C, n, taps, d.LDI, &d.W[0], out, d.LDO, init, &q.Scale[0], add, q.Zero, int(q.Lo), int(q.Hi))
		return
	}
	dotWindowAVX512(d.C, n, groups, taps, max(1, d.Win.Stride[2])*d.LDI, &d.W[0], out, d.LDO, init, &q.Scale[0], add,
		q.Zero, int(q.Lo), int(q.Hi))
}
