package kernel

import (
	"fmt"
	"math"
)

// Gemm is one matrix product with a packed right-hand side and a fused
// epilogue. In Go:
//
//	for i := range M {
//		for j := range N {
//			s := float32(0)
//			for k := range K {
//				s += A[i*LDA+k] * B[k][j]
//			}
//			s += Bias[j]
//			if !ResAfter { s += Res[i*LDR+j] }
//			s = Act(s)
//			if ResAfter { s += Res[i*LDR+j] }
//			C[i*LDC+j] = s
//		}
//	}
//
// With Ind set the rows of A are gathered: row i is the run A[o:o+K] for each
// tap's offset o in turn, zeros where the offset says so, and B has
// Ind.Taps()*K rows. That is a convolution over channels-last input without a
// copy of the input.
//
// Numeric contract: float32 throughout; k ascends; assembly uses fused
// multiply-add and, for M <= 4, splits k over 2 or 4 sums added at the end, so
// variants agree within K*2^-24*sum|a*b|, not bit for bit. NaN and infinities
// propagate through clamps. K = 0 gives Act(Bias + Res).
//
// A, C and Res may be views with strides of at least K, N and N. C must not
// overlap A, B or Bias; C may be Res when LDC == LDR.
type Gemm struct {
	M, N, K  int
	A        []float32
	LDA      int
	B        []float32 // from PackB or PackBT, [K, N] or [Ind.Taps()*K, N]
	C        []float32
	LDC      int
	Bias     []float32 // N values, or nil
	Res      []float32 // [M, N], or nil
	LDR      int
	ResAfter bool // add Res after the activation
	Act      Act
	Ind      *Indirection
	Zero     []float32 // K zeros, for an Ind with padding

	rowStep, panelStep, rowChunks int
}

// tileArgs are the operands of one call of a microkernel.
type tileArgs struct {
	m, cols, k    int
	a             []float32
	lda           int
	b             []float32
	ldb           int // floats from one row of the packed panel to the next
	c             []float32
	ldc           int
	bias, res     []float32
	ldr           int
	lo, hi        float32
	after         bool
	row           int // first row, for the table of an indirect product
	ind           *Indirection
	zero          []float32
	maxRowsAtOnce int
}

const (
	chunkFlops = 8 << 20   // work of one chunk: tens of microseconds
	leastFlops = 1 << 18   // work below which a chunk is not divided further
	callFlops  = 8 << 20   // work of one assembly call
	blockBytes = 512 << 10 // rows of A kept in the second-level cache
)

// Plan checks the operands, divides the product into chunks of similar work for
// the given number of threads and returns their number (0 when C is empty).
// Chunks write disjoint parts of C and can run in any order and at once.
func (g *Gemm) Plan(threads int) int {
	g.check()
	if g.M == 0 || g.N == 0 {
		return 0
	}
	panels := Panels(g.N)
	depth, footprint := max(1, g.depth()), max(1, g.K)
	if g.Ind != nil { // neighbouring rows share most of what they read
		footprint *= max(1, min(3, g.Ind.taps))
	}
	target := max(48, blockBytes/(4*footprint)/24*24)
	blocks := max(1, (g.M+target/2)/target)
	rows := min(g.M, roundUp(ceilDiv(g.M, blocks), 24))
	cols := max(1, min(panels, chunkFlops/(2*rows*PanelCols*depth)))
	for threads > 1 && ceilDiv(g.M, rows)*ceilDiv(panels, cols) < 4*threads && 2*rows*cols*PanelCols*depth > leastFlops {
		switch {
		case rows > 24 && rows >= cols*PanelCols:
			rows = roundUp(ceilDiv(rows, 2), 24)
		case cols > 1:
			cols = ceilDiv(cols, 2)
		case rows > 24:
			rows = roundUp(ceilDiv(rows, 2), 24)
		default:
			threads = 1
		}
	}
	g.rowStep, g.panelStep = rows, cols
	g.rowChunks = ceilDiv(g.M, rows)
	return g.rowChunks * ceilDiv(panels, cols)
}

// Chunk computes chunk i of the division that Plan made.
func (g *Gemm) Chunk(i int) {
	r, p := i%g.rowChunks*g.rowStep, i/g.rowChunks*g.panelStep
	g.Block(r, min(g.M, r+g.rowStep), p, min(Panels(g.N), p+g.panelStep))
}

// Run computes the whole product on the calling goroutine.
func (g *Gemm) Run() {
	for i := range g.Plan(1) {
		g.Chunk(i)
	}
}

// Block computes rows r0 <= i < r1 of panels p0 <= p < p1. The operands must
// have passed Plan.
func (g *Gemm) Block(r0, r1, p0, p1 int) {
	lo, hi, pass := g.Act.clamp()
	t := tileArgs{
		m: r1 - r0, k: g.K, lda: g.LDA, ldc: g.LDC, ldr: g.LDR, lo: lo, hi: hi,
		after: g.ResAfter, row: r0, ind: g.Ind, zero: g.Zero,
	}
	depth := g.depth()
	t.maxRowsAtOnce = max(24, callFlops/(2*PanelCols*max(1, depth))/24*24)
	switch {
	case g.K == 0:
	case g.Ind != nil:
		t.a = g.A
	default:
		t.a = g.A[r0*g.LDA:]
	}
	res := g.Res
	if pass && g.ResAfter {
		res = nil
	}
	for p := p0; p < p1; p++ {
		j := p * PanelCols
		t.cols, t.ldb = min(PanelCols, g.N-j), panelWidth(g.N, j)
		t.b = g.B[depth*j:][:depth*t.ldb]
		t.c = g.C[r0*g.LDC+j:]
		if g.Bias != nil {
			t.bias = g.Bias[j:]
		}
		if res != nil {
			t.res = res[r0*g.LDR+j:]
		}
		gemmPanel(&t)
	}
	if pass {
		g.activate(r0, r1, p0*PanelCols, min(g.N, p1*PanelCols))
	}
}

// activate applies an activation that is no clamp to columns j0 <= j < j1 of rows
// that have just been written.
func (g *Gemm) activate(r0, r1, j0, j1 int) {
	rows, w := r1-r0, j1-j0
	if w == g.LDC && (g.Res == nil || w == g.LDR) { // rows follow each other
		rows, w = 1, rows*w
	}
	for i := range rows {
		c := g.C[(r0+i)*g.LDC+j0:][:w]
		Unary(g.Act.Op, c, c, g.Act.Alpha, g.Act.Beta)
		if g.ResAfter && g.Res != nil {
			BinaryVV(Add, c, c, g.Res[(r0+i)*g.LDR+j0:][:w])
		}
	}
}

// depth is the number of rows of B.
func (g *Gemm) depth() int {
	if g.Ind != nil {
		return g.K * g.Ind.taps
	}
	return g.K
}

func (g *Gemm) check() {
	if g.M < 0 || g.N < 0 || g.K < 0 {
		panic(fmt.Sprintf("kernel: Gemm: negative size M=%d N=%d K=%d", g.M, g.N, g.K))
	}
	if g.M == 0 || g.N == 0 {
		return
	}
	strides := g.LDC >= g.N && (g.Res == nil || g.LDR >= g.N) && g.LDA >= 0
	if !strides {
		panic(fmt.Sprintf("kernel: Gemm: stride below row length: M=%d N=%d K=%d LDA=%d LDC=%d LDR=%d", g.M, g.N, g.K, g.LDA, g.LDC, g.LDR))
	}
	if g.Ind != nil {
		g.Ind.check(g.M, g.K, g.A, g.Zero)
	} else {
		need("Gemm", "A", len(g.A), extent(g.M, g.K, g.LDA))
	}
	need("Gemm", "B", len(g.B), PackedLen(g.depth(), g.N))
	need("Gemm", "C", len(g.C), extent(g.M, g.N, g.LDC))
	if g.Bias != nil {
		need("Gemm", "Bias", len(g.Bias), g.N)
	}
	if g.Res != nil {
		need("Gemm", "Res", len(g.Res), extent(g.M, g.N, g.LDR))
	}
}

// Act is an element-wise activation; the zero value is the identity.
type Act struct {
	Op          UnaryOp
	Alpha, Beta float32
}

// clamp gives the bounds when the activation is a clamp, and otherwise reports
// that a separate pass is needed.
func (a Act) clamp() (lo, hi float32, pass bool) {
	inf := float32(math.Inf(1))
	switch a.Op {
	case Identity:
		return -inf, inf, false
	case Relu:
		return 0, inf, false
	case Relu6:
		return 0, 6, false
	case Clamp:
		return a.Alpha, a.Beta, false
	}
	return -inf, inf, true
}

func roundUp(n, m int) int { return (n + m - 1) / m * m }
func ceilDiv(n, m int) int { return (n + m - 1) / m }
