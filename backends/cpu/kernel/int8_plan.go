package kernel

import "fmt"

const (
	intChunk = 64 << 20  // operations of one chunk: about 150 microseconds
	intLeast = 1 << 19   // operations below which a chunk is not divided further
	intBlock = 256 << 10 // bytes of A kept in the second-level cache
)

// Plan checks the operands, divides the product into chunks of similar work for
// the given number of threads and returns their number (0 when C is empty).
// Chunks write disjoint parts of C and can run in any order and at once.
func (g *GemmInt8) Plan(threads int) int {
	g.check()
	if g.M == 0 || g.N == 0 {
		return 0
	}
	const unit = 24 // a multiple of the height of tiles
	panels, depth := ceilDiv(g.N, IntCols), max(1, g.taps()*g.K)
	width := min(IntCols, g.N)
	rows := min(g.M, max(unit, intBlock/max(1, g.K*min(3, g.taps()))/unit*unit))
	cols := max(1, min(panels, intChunk/(2*rows*width*depth)))
	for threads > 1 && ceilDiv(g.M, rows)*ceilDiv(panels, cols) < 4*threads && 2*rows*cols*width*depth > intLeast {
		switch {
		case rows > unit && rows >= cols*IntCols:
			rows = roundUp(ceilDiv(rows, 2), unit)
		case cols > 1:
			cols = ceilDiv(cols, 2)
		case rows > unit:
			rows = roundUp(ceilDiv(rows, 2), unit)
		default:
			threads = 1
		}
	}
	g.rowStep, g.panelStep = rows, cols
	g.rowChunks = ceilDiv(g.M, rows)
	return g.rowChunks * ceilDiv(panels, cols)
}

// Chunk computes chunk i of the division that Plan made.
func (g *GemmInt8) Chunk(i int) {
	r, p := i%g.rowChunks*g.rowStep, i/g.rowChunks*g.panelStep
	r1, j1 := min(g.M, r+g.rowStep), min(g.N, (p+g.panelStep)*IntCols)
	for j := p * IntCols; j < j1; j += IntCols {
		intPanel(g, nil, r, r1, j)
	}
}

// Sums computes the sums of rows r0 <= i < r1 as float32, rounded to nearest, [r1-r0, N]. C is not used, nor is Post
// but for Init. Plan must have been called; several calls may run at once.
func (g *GemmInt8) Sums(dst []float32, r0, r1 int) {
	need("GemmInt8", "dst", len(dst), (r1-r0)*g.N)
	if r0 < 0 || r1 > g.M {
		panic(fmt.Sprintf("kernel: GemmInt8: rows %d to %d of %d", r0, r1, g.M))
	}
	for j := 0; j < g.N && r0 < r1; j += IntCols {
		intPanel(g, dst, r0, r1, j)
	}
}

// Run computes the whole product on the calling goroutine.
func (g *GemmInt8) Run() {
	for i := range g.Plan(1) {
		g.Chunk(i)
	}
}

// IntPanels is the number of packed panels of a matrix of n columns.
func IntPanels(n int) int { return ceilDiv(n, IntCols) }

// FastInt8 reports whether products of codes are faster than those of float32.
func FastInt8() bool { return fast.int8 != nil }
