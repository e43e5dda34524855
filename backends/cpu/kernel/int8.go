package kernel

import (
	"fmt"
	"math"
)

// Requantize says how a sum of integer products becomes a code. In Go, for
// column j:
//
//	v := float32(sum) * Scale[j] // rounded
//	v += Add[j]                  // rounded
//	code = clamp(roundToEven(v) + Zero, Lo, Hi)
//
// The arithmetic is float32 with the roundings shown, the same for every
// instruction set, to the bit. |v| must stay below 2^31; roundToEven(v) counts as
// a 16-bit number beyond which nothing lies, as does the sum with Zero.
//
// With Low the factor has two parts, and there is one rounding:
//
//	v := float32(sum)*Scale[j] + Add[j] // exact where a code is in range
//	code = clamp(floor(v + float32(sum)*Low[j]) + Zero, Lo, Hi)
//
// That is exact for a Scale that is a multiple of 2^-15; 1/2 in Add makes halves
// go up.
type Requantize struct {
	Init       []int32   // per column, what a sum starts with; nil: zeros
	Scale, Add []float32 // per column; Add may be nil without Low: zeros
	Low        []float32 // per column; nil: Scale is all
	Zero       int       // of 16 bits
	Lo, Hi     uint8
}

func (q *Requantize) check(fn string, n int) {
	need(fn, "Scale", len(q.Scale), n)
	if q.Init != nil {
		need(fn, "Init", len(q.Init), n)
	}
	if q.Add != nil || q.Low != nil {
		need(fn, "Add", len(q.Add), n)
	}
	if q.Low != nil {
		need(fn, "Low", len(q.Low), n)
	}
	if q.Zero != int(int16(q.Zero)) {
		panic(fmt.Sprintf("kernel: %s: zero point %d does not fit 16 bits", fn, q.Zero))
	}
}

// code is the definition.
func (q *Requantize) code(sum int32, j int) uint8 {
	if q.Low != nil {
		return q.narrow(q.down(sum, j))
	}
	v := float32(sum) * q.Scale[j]
	if q.Add != nil {
		v = float32(v) + q.Add[j]
	}
	return q.narrow(toInt(v))
}

// down is the floor of what the two parts of the factor make of a sum.
func (q *Requantize) down(sum int32, j int) int32 {
	s := float64(float32(sum))
	v, w := float64(s*float64(q.Scale[j]))+float64(q.Add[j]), s*float64(q.Low[j])
	x := v + w
	rest := x - v
	rest = (v - (x - rest)) + (w - rest) // what is lost in x
	f := math.Floor(x)
	if f == x && rest < 0 {
		f--
	}
	if !(f < 1<<31 && f >= -1<<31) {
		return math.MinInt32
	}
	return int32(f)
}

// fused reports whether assembly computes what q says.
func (q *Requantize) fused() bool { return q.Low == nil || fast.fastDot }

// toInt rounds to even as the processor does: what is out of range is the smallest integer.
func toInt(v float32) int32 {
	if !(v < 1<<31 && v >= -1<<31) {
		return math.MinInt32
	}
	return int32(math.RoundToEven(float64(v)))
}

// narrow adds the zero point, saturating, and clamps.
func (q *Requantize) narrow(v int32) uint8 {
	v = min(max(v, math.MinInt16), math.MaxInt16) + int32(q.Zero)
	return uint8(min(max(v, int32(q.Lo)), int32(q.Hi)))
}

// IntCols is the number of columns of one full panel of packed 8-bit filters,
// IntDepth the number of neighbouring rows that one word of it holds.
const (
	IntCols  = 64
	IntDepth = 4
)

// intWidth is the stored width of the panel that starts at column j of n.
func intWidth(n, j int) int { return min(IntCols, roundUp(n-j, 16)) }

// PackedInt8Len is the number of bytes of a packed matrix of taps runs of k rows
// and n columns.
func PackedInt8Len(taps, k, n int) int { return taps * roundUp(k, IntDepth) * roundUp(n, 16) }

// PackInt8 packs b, given transposed: row-major [n, taps, k] with n rows ldb
// apart, as filters [out, taps, in] are stored. The packed form is panels of 64
// columns, the last one of a multiple of 16: [taps][k/4][columns][4], with zeros
// for missing rows and columns. The form is the same for every instruction set.
func PackInt8(dst []int8, b []int8, taps, k, n, ldb int) {
	need("PackInt8", "dst", len(dst), PackedInt8Len(taps, k, n))
	need("PackInt8", "b", len(b), extent(n, taps*k, ldb))
	words := ceilDiv(k, IntDepth)
	for j := 0; j < n; j += IntCols {
		w := intWidth(n, j)
		d := dst[taps*words*IntDepth*j:][:taps*words*IntDepth*w]
		clear(d)
		for c := range min(w, n-j) {
			for t := range taps {
				src := b[(j+c)*ldb+t*k:][:k]
				for i, v := range src {
					d[((t*words+i/IntDepth)*w+c)*IntDepth+i%IntDepth] = v
				}
			}
		}
	}
}

// GemmInt8 is a product of codes with packed signed filters, and its
// requantization:
//
//	for i := range M {
//		for j := range N {
//			s := Init[j]
//			for k := range K { s += int32(A[i*LDA+k]) * int32(B[k][j]) }
//			C[i*LDC+j] = requantized s
//		}
//	}
//
// With Ind set the rows of A are gathered as in [Gemm]: each tap is a run of K
// codes, from Zero where there is no input. Sums are int32 and wrap; a caller
// keeps them below 2^31.
//
// Every run, of A and of Zero, must be readable up to a multiple of four codes;
// what is read beyond K does not matter. C must not overlap anything else.
type GemmInt8 struct {
	M, N, K int
	A       []uint8
	LDA     int
	B       []int8 // from PackInt8
	C       []uint8
	LDC     int
	Post    Requantize
	Ind     *Indirection
	Zero    []uint8 // for an Ind with padding
	// With Factors, one per column, a sum starts with Factors[j]*Rows[i] more. That is what zero points of B take, where Rows
	// are sums of rows of A.
	Factors, Rows []int32

	SumsOnly bool // only Sums is called: C and what it needs are not there

	rowStep, panelStep, rowChunks int
}

const (
	intChunk = 64 << 20  // operations of one chunk: about 150 microseconds
	intLeast = 1 << 19   // operations below which a chunk is not divided further
	intCall  = 32 << 20  // operations of one assembly call
	intBlock = 256 << 10 // bytes of A kept in the second-level cache
)

func (g *GemmInt8) taps() int {
	if g.Ind != nil {
		return g.Ind.taps
	}
	return 1
}

// Plan checks the operands, divides the product into chunks of similar work for
// the given number of threads and returns their number (0 when C is empty).
// Chunks write disjoint parts of C and can run in any order and at once.
func (g *GemmInt8) Plan(threads int) int {
	g.check()
	if g.M == 0 || g.N == 0 {
		return 0
	}
	const unit = 24 // a multiple of what tiles are high
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

func (g *GemmInt8) check() {
	if g.M < 0 || g.N < 0 || g.K < 0 {
		panic(fmt.Sprintf("kernel: GemmInt8: negative size M=%d N=%d K=%d", g.M, g.N, g.K))
	}
	if g.M == 0 || g.N == 0 {
		return
	}
	if !g.SumsOnly && g.LDC < g.N || g.LDA < 0 {
		panic(fmt.Sprintf("kernel: GemmInt8: stride below row length: M=%d N=%d K=%d LDA=%d LDC=%d", g.M, g.N, g.K, g.LDA,
			g.LDC))
	}
	run := roundUp(g.K, IntDepth)
	switch {
	case g.Ind == nil:
		need("GemmInt8", "A", len(g.A), extent(g.M, run, g.LDA))
	case g.M > g.Ind.rows:
		panic(fmt.Sprintf("kernel: GemmInt8: want at most %d rows of the indirection, got %d", g.Ind.rows, g.M))
	case run > 0:
		need("GemmInt8", "A", len(g.A), g.Ind.last+run)
		if g.Ind.padded {
			need("GemmInt8", "Zero", len(g.Zero), run)
		}
	}
	need("GemmInt8", "B", len(g.B), PackedInt8Len(g.taps(), g.K, g.N))
	if g.Factors != nil {
		need("GemmInt8", "Factors", len(g.Factors), g.N)
		need("GemmInt8", "Rows", len(g.Rows), g.M)
	}
	if g.SumsOnly {
		if g.Post.Init != nil {
			need("GemmInt8", "Init", len(g.Post.Init), g.N)
		}
		return
	}
	need("GemmInt8", "C", len(g.C), extent(g.M, g.N, g.LDC))
	g.Post.check("GemmInt8", g.N)
}

// IntPanels is the number of packed panels of a matrix of n columns.
func IntPanels(n int) int { return ceilDiv(n, IntCols) }

// FastInt8 reports whether products of codes are faster than those of float32.
func FastInt8() bool { return fast.fastDot }
