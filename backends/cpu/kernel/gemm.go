package kernel

import "fmt"

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
// Ind.Taps()*K rows. That is a convolution over NHWC input without a
// copy of the input.
//
// Numeric contract: float32 throughout; k ascends; assembly uses fused
// multiply-add and, for M <= 4 or few columns, splits k over 2 or 4 sums added at
// the end; depths above 1536 are summed in parts of about 1024, those above 576 of
// about 384 with Ind. So variants agree within K*2^-24*sum|a*b|, not bit for bit.
// NaN and infinities propagate through clamps.
// K = 0 gives Act(Bias + Res).
//
// A, C and Res may be views with strides of at least K, N and N. C must not
// overlap A, B or Bias; C may be Res when LDC == LDR and not ResAfter.
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

	next []float32 // a B of the same sizes that is read after this one, to be fetched meanwhile

	panelStep, rowChunks, panelChunks int

	span, spanParts int // the one that chunks compute, and the parts of the depth of each
}

const (
	chunkFlops = 32 << 20 // work of one chunk: 100 to 200 microseconds
	leastFlops = 1 << 18  // work below which a chunk is not divided further
	callFlops  = 8 << 20  // work of one assembly call
	partDepth  = 1024     // rows of B of one part of a deep product
	tapsDepth  = 384      // alike, of an indirect one, whose rows of A are scattered

	fetchBytes = 256 << 10 // size of a B whose panels are fetched ahead
	blockBytes = 384 << 10 // rows of A kept in the second-level cache
	partPanels = 8         // panels of a chunk of a deep product, which reads its rows of A for each part again
	spanFlops  = 256 << 20 // work of one chunk of a span, but for parts that are more: some milliseconds
)

// Plan checks the operands, divides the product into chunks of similar work for
// the given number of threads and returns their number (0 when C is empty).
// Chunks write disjoint parts of C and can run in any order and at once; those of
// the same rows of A, which stay in the second-level cache, follow each other.
func (g *Gemm) Plan(threads int) int {
	g.check()
	return g.divide(threads)
}

// divide is Plan without the checks.
func (g *Gemm) divide(threads int) int {
	g.span = 0
	if g.M == 0 || g.N == 0 {
		return 0
	}
	panels := Panels(g.N)
	parts, step := g.parts()
	depth, footprint := max(1, g.depth()), max(1, step)
	if g.Ind != nil { // neighbouring rows read much of the same memory
		footprint = max(1, g.K*min(5, g.Ind.taps))
	}
	if panels > 1 && 4*depth*g.N <= blockBytes { // all of B stays too: keep what the rows write near
		footprint += g.N
		if g.Res != nil {
			footprint += g.N
		}
	}
	target := max(48, blockBytes/(4*footprint)/24*24)
	blocks := max(1, (g.M+target/2)/target)
	rows := min(g.M, roundUp(ceilDiv(g.M, blocks), 24))
	// Threads that share a B by its rows of A each read all of B, but find in their caches what they wrote in the step
	// before.
	if threads > 1 && g.M >= 24*threads && depth*g.N <= 2*g.M*(footprint+g.N) {
		rows = min(rows, roundUp(ceilDiv(g.M, threads), 24))
	}
	cols := max(1, chunkFlops/(2*rows*PanelCols*depth))
	if parts > 1 && 2*rows*partPanels*PanelCols*step <= spanFlops {
		cols = max(cols, partPanels)
	}
	if cols > 1 { // panels are computed by twos
		cols &^= 1
	}
	cols = min(cols, panels)
	for threads > 1 && ceilDiv(g.M, rows)*ceilDiv(panels, cols) < 4*threads && 2*rows*cols*PanelCols*depth > leastFlops {
		switch {
		case cols > 2:
			cols = roundUp(ceilDiv(cols, 2), 2)
		case rows > 48 || rows > 24 && cols == 1:
			rows = roundUp(ceilDiv(rows, 2), 24)
		case cols > 1:
			cols = 1
		default:
			threads = 1
		}
	}
	g.panelStep = cols
	g.rowChunks, g.panelChunks = ceilDiv(g.M, rows), ceilDiv(panels, cols)
	if n := roundUp(g.rowChunks, threads); threads > 1 && g.M >= 24*n && (g.rowChunks > 1 || g.panelChunks%threads != 0) {
		g.rowChunks = n // as many chunks for each thread
	}
	g.spanParts = max(1, spanFlops/(2*max(24, ceilDiv(g.M, g.rowChunks))*cols*PanelCols*max(1, step)))
	return g.rowChunks * g.panelChunks
}

// rowAt is the first row of the given row of chunks. They are of even height, in whole tiles: a thread's share of a
// step is, but for a tile, what it has written in the step before.
func (g *Gemm) rowAt(r int) int {
	if r == g.rowChunks {
		return g.M
	}
	tile := 6 // rows of a tile of two panels
	if g.N <= PanelCols {
		tile = 8
	}
	return (g.M*r/g.rowChunks + tile/2) / tile * tile
}

// Chunk computes chunk i of the division that Plan made.
func (g *Gemm) Chunk(i int) { g.Block(g.bounds(i)) }

// bounds are the rows and panels of chunk i.
func (g *Gemm) bounds(i int) (r0, r1, p0, p1 int) {
	r, p := i/g.panelChunks, i%g.panelChunks*g.panelStep
	return g.rowAt(r), g.rowAt(r + 1), p, min(Panels(g.N), p+g.panelStep)
}

// Spans returns how often all chunks that Plan made have to be computed, after [Gemm.SetSpan] for each time in turn:
// once, but for products so deep that a chunk would take more than some milliseconds.
func (g *Gemm) Spans() int {
	parts, _ := g.parts()
	return ceilDiv(parts, max(1, g.spanParts))
}

// SetSpan says which span the chunks compute from now on: some parts of the depth. Plan sets 0.
func (g *Gemm) SetSpan(i int) { g.span = i }

// Run computes the whole product on the calling goroutine.
func (g *Gemm) Run() {
	n := g.Plan(1)
	for span := range g.Spans() {
		g.SetSpan(span)
		for i := range n {
			g.Chunk(i)
		}
	}
}

// Block computes rows r0 <= i < r1 of panels p0 <= p < p1, in the span that is
// set: all of the depth, where no Plan has divided it. The operands must fit, as
// Plan checks.
func (g *Gemm) Block(r0, r1, p0, p1 int) {
	lo, hi, pass := g.Act.clamp()
	parts, step := g.parts()
	res, after := g.Res, g.ResAfter
	var add []float32 // residual that no tile adds
	if after && res != nil && (pass || parts > 1) {
		res, add = nil, res
	}
	t := tileArgs{m: r1 - r0, k: g.K, lda: g.LDA, ldc: g.LDC, after: after && parts == 1, row: r0, ind: g.Ind,
		zero: g.Zero}
	first, end := 0, parts
	if g.spanParts > 0 {
		first = g.span * g.spanParts
		end = min(parts, first+g.spanParts)
	}
	for part := first; part < end; part++ {
		from := part * step // row of B
		if g.Ind != nil {
			t.tap, t.taps = from/max(1, g.K), min(step, g.depth()-from)/max(1, g.K)
			if parts == 1 {
				t.taps = g.Ind.taps
			}
			t.a = g.A
		} else if t.k = min(step, g.K-from); t.k > 0 {
			t.a = g.A[r0*g.LDA+from:]
		}
		t.lo, t.hi = lo, hi
		if part < parts-1 {
			t.lo, t.hi = -inf32, inf32
		}
		g.part(&t, from, p0, p1, part == 0, res)
	}
	if end == parts && (pass || add != nil) {
		g.activate(r0, r1, p0*PanelCols, min(g.N, p1*PanelCols), pass, add)
	}
}

// parts divides a deep product: partial sums pass through C, so that what one
// part reads of A stays in the cache for all panels. step is in rows of B.
func (g *Gemm) parts() (n, step int) {
	depth, most := g.depth(), partDepth
	if g.Ind != nil {
		most = tapsDepth
	}
	if depth <= most+most/2 {
		return 1, depth
	}
	n = ceilDiv(depth, most)
	step = roundUp(ceilDiv(depth, n), 4)
	if g.Ind != nil {
		step = roundUp(ceilDiv(depth, n), g.K)
	}
	return ceilDiv(depth, step), step
}

// part computes one part of every panel p0 <= p < p1; t says which.
func (g *Gemm) part(t *tileArgs, from, p0, p1 int, first bool, res []float32) {
	depth := g.depth()
	rows := t.k
	if g.Ind != nil {
		rows *= t.taps
	}
	t.maxRowsAtOnce = max(24, callFlops/(2*PanelCols*max(1, rows))/24*24)
	fetch := g.next != nil || g.M <= 4096 && 4*depth*g.N > fetchBytes
	t.pair = depth * PanelCols
	for p := p0; p < p1; p++ {
		j := p * PanelCols
		t.cols, t.ldb = min(PanelCols, g.N-j), panelWidth(g.N, j)
		t.b = g.B[depth*j+from*t.ldb:]
		if p+1 < p1 && g.N-j >= 2*PanelCols && t.m > 2 && pairs() {
			t.cols = 2 * PanelCols
			p++
		}
		t.next, t.afterNext = nil, nil
		if fetch {
			next, at := p+1, from
			if next == p1 { // the block goes on with its next part, the next block begins with the first
				if at = from + rows; at < depth {
					next = p0
				} else {
					at = 0
				}
			}
			deep := min(rows, depth-at)
			t.next = g.panelPart(next, at, deep)
			if t.cols > PanelCols {
				t.afterNext = g.panelPart(next+1, at, deep)
			}
		}
		t.c = g.C[t.row*g.LDC+j:]
		t.bias, t.res = nil, nil
		switch {
		case !first:
			t.res, t.ldr = t.c, g.LDC
		case res != nil:
			t.res, t.ldr = res[t.row*g.LDR+j:], g.LDR
		}
		if first && g.Bias != nil {
			t.bias = g.Bias[j:]
		}
		gemmPanel(t)
	}
}

// panelPart is rows of B from the given one on in panel p, counted on into the matrix that is read next; nil when there
// is no such panel.
func (g *Gemm) panelPart(p, from, rows int) []float32 {
	b := g.B
	if n := Panels(g.N); p >= n {
		b, p = g.next, p-n
	}
	j := p * PanelCols
	if b == nil || j >= g.N {
		return nil
	}
	w := panelWidth(g.N, j)
	return b[g.depth()*j+from*w:][:rows*w]
}

// activate finishes columns j0 <= j < j1 of rows that have just been written: an
// activation that is no clamp, and a residual to add after the activation.
func (g *Gemm) activate(r0, r1, j0, j1 int, pass bool, add []float32) {
	rows, w := r1-r0, j1-j0
	if w == g.LDC && (add == nil || w == g.LDR) { // rows follow each other
		rows, w = 1, rows*w
	}
	for i := range rows {
		c := g.C[(r0+i)*g.LDC+j0:][:w]
		if pass {
			Unary(g.Act.Op, c, c, g.Act.Alpha, g.Act.Beta)
		}
		if add != nil {
			BinaryVV(Add, c, c, add[(r0+i)*g.LDR+j0:][:w])
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
		panic(fmt.Sprintf("kernel: Gemm: stride below row length: M=%d N=%d K=%d LDA=%d LDC=%d LDR=%d", g.M, g.N, g.K, g.LDA,
			g.LDC, g.LDR))
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
