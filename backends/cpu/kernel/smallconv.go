package kernel

import "fmt"

// SmallConv is a convolution with few input channels, as the first layer of an
// image network: the taps of one kernel row and their channels lie next to each
// other in a padded copy of the input, so that they form one long run. The copy
// is made chunk by chunk in Work; an NCHW input is converted to
// NHWC on the way. Semantics and numeric contract are those of [Gemm]
// with an [Indirection], without a residual.
//
// The window is two-dimensional; the dilation along rows must be 1. B is packed
// from [kernel height][kernel width][C] rows of N columns. Use: Plan, then every
// chunk, in any order and at once; a chunk's worker index must be below the
// number of threads given to Plan and not be in use by another goroutine. Work
// holds WorkLen values, which Plan sets.
type SmallConv struct {
	C, N, Batch int
	Win         Window
	X           []float32
	LDX         int  // values from one position to the next; ignored if Planar
	Planar      bool // X is [Batch][C][height][width]
	B           []float32
	Y           []float32
	LDY         int
	Bias        []float32 // N values, or nil
	Act         Act
	Work        []float32
	WorkLen     int

	ind     Indirection
	rowStep int // output rows of one chunk
	rowLen  int // values of one padded input row
	lines   int // input rows of one chunk
}

// Plan checks the operands but Work, divides the work, sets WorkLen and returns
// the number of chunks.
func (s *SmallConv) Plan(threads int) int {
	s.check()
	w := &s.Win
	s.ind, s.WorkLen = Indirection{}, 0
	if s.Batch*w.Outputs() == 0 || s.N == 0 {
		return 0
	}
	sy, sx, dy := max(1, w.Stride[1]), max(1, w.Stride[2]), max(1, w.Dilation[1])
	s.rowStep, _ = splitRows(w.Out[1], 2*w.Taps()*s.C*s.N*w.Out[2], threads)
	s.rowLen = ((w.Out[2]-1)*sx + w.Kernel[2]) * s.C
	s.lines = (s.rowStep-1)*sy + (w.Kernel[1]-1)*dy + 1
	s.WorkLen = max(1, threads) * s.lines * s.rowLen

	rows := s.rowStep * w.Out[2]
	s.ind = Indirection{tab: make([]int32, w.Kernel[1]*rows), taps: w.Kernel[1], rows: rows}
	for k := range w.Kernel[1] {
		for i := range rows {
			s.ind.tab[k*rows+i] = int32((i/w.Out[2]*sy+k*dy)*s.rowLen + i%w.Out[2]*sx*s.C)
		}
	}
	return s.Batch * ceilDiv(w.Out[1], s.rowStep)
}

// Chunk computes chunk i.
func (s *SmallConv) Chunk(i, worker int) {
	w := &s.Win
	per := ceilDiv(w.Out[1], s.rowStep)
	n, y0 := i/per, i%per*s.rowStep
	rows := min(s.rowStep, w.Out[1]-y0)
	work := s.Work[worker*s.lines*s.rowLen:][:s.lines*s.rowLen]
	sy := max(1, w.Stride[1])
	for l := range s.lines - (s.rowStep-rows)*sy {
		s.line(work[l*s.rowLen:][:s.rowLen], n, y0*sy-w.Pad[1]+l)
	}
	g := Gemm{
		M: rows * w.Out[2], N: s.N, K: w.Kernel[2] * s.C, A: work, B: s.B,
		C: s.Y[(n*w.Out[1]+y0)*w.Out[2]*s.LDY:], LDC: s.LDY, Bias: s.Bias, Act: s.Act, Ind: &s.ind,
	}
	g.Block(0, g.M, 0, Panels(s.N))
}

// line writes input row y of image n with its padding.
func (s *SmallConv) line(dst []float32, n, y int) {
	w := &s.Win
	height, width := w.In[1], w.In[2]
	if y < 0 || y >= height || s.C == 0 {
		clear(dst)
		return
	}
	left := min(w.Pad[2], len(dst)/s.C)
	skip := max(0, -left) // a negative padding starts inside the row
	left = max(0, left)
	clear(dst[:left*s.C])
	count := max(0, min(width-skip, len(dst)/s.C-left))
	clear(dst[(left+count)*s.C:])
	d := dst[left*s.C:][:count*s.C]
	switch {
	case count == 0:
	case !s.Planar:
		CopyRows(d, s.C, s.X[((n*height+y)*width+skip)*s.LDX:], s.LDX, count, s.C)
	case s.C == 1:
		copy(d, s.X[(n*height+y)*width+skip:][:count])
	case s.C == 3:
		plane := func(c int) []float32 { return s.X[((n*3+c)*height+y)*width+skip:][:count] }
		Interleave3(d, plane(0), plane(1), plane(2))
	default:
		Transpose(d, s.C, s.X[(n*s.C*height+y)*width+skip:], height*width, s.C, count)
	}
}

// Run computes the whole convolution on the calling goroutine; Work is made if
// it is too short.
func (s *SmallConv) Run() {
	n := s.Plan(1)
	if len(s.Work) < s.WorkLen {
		s.Work = make([]float32, s.WorkLen)
	}
	for i := range n {
		s.Chunk(i, 0)
	}
}

func (s *SmallConv) check() {
	w := &s.Win
	ldx := s.LDX
	if s.Planar {
		ldx = s.C
	}
	checkFlatWindow("SmallConv", w, s.Batch, 0, 1<<62, ldx, 1<<62, s.LDY)
	if s.C < 0 || s.N < 0 || ldx < s.C || s.LDY < s.N || w.Kernel[2] > 1 && w.Dilation[2] > 1 {
		panic(fmt.Sprintf("kernel: SmallConv: C=%d N=%d LDX=%d LDY=%d window %+v", s.C, s.N, s.LDX, s.LDY, *w))
	}
	need("SmallConv", "X", len(s.X), extent(s.Batch*w.In[1]*w.In[2], s.C, ldx))
	need("SmallConv", "B", len(s.B), PackedLen(w.Taps()*s.C, s.N))
	need("SmallConv", "Y", len(s.Y), extent(s.Batch*w.Outputs(), s.N, s.LDY))
	if s.Bias != nil {
		need("SmallConv", "Bias", len(s.Bias), s.N)
	}
}
