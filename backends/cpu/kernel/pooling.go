package kernel

// Pooling is one pooling of NHWC input, channel by channel:
//
//	Max:  Out = the largest of the window's taps inside the input, NaN if one is NaN
//	else: Out = sum(taps inside the input) * (1/count)
//
// count is the number of taps inside the input or, with IncludePad, inside the input and its padding. A window without
// taps gives -Inf or 0. Sums are float32 in tap order; those of windows of more than 512 taps are sums of parts. Out
// must not overlap In. The first dimension of Win must be 1.
type Pooling struct {
	C, Batch   int
	Win        Window
	In         []float32
	LDI        int // values from one position to the next, at least C
	Out        []float32
	LDO        int
	Max        bool
	IncludePad bool
	PadAfter   [3]int    // padding after the last element, for IncludePad
	Work       []float32 // of WorkLen values

	rows    rowChunks
	slices  int // parts of the channels
	columns int // parts of an output row
}

// Plan checks the operands, divides the rows of the output into chunks for the
// given number of threads and returns their number.
func (p *Pooling) Plan(threads int) int {
	checkWindow("Pooling", &p.Win, p.Batch, p.C, len(p.In), p.LDI, len(p.Out), p.LDO)
	rows, work := p.Batch*p.Win.Out[1], 4*p.Win.Taps()*p.C*p.Win.Out[2]
	p.rows, p.slices = divideRows(rows, work, threads), 1
	if rows == 1 && work >= 1<<17 { // as of a global pooling
		p.slices = min(threads, ceilDiv(p.C, poolSlice))
	}
	p.columns = min(p.Win.Out[2], 1+work/poolWork)
	return p.rows.chunks * p.slices * p.columns
}

// WorkLen is how many values of scratch memory the chunks of Plan need.
func (p *Pooling) WorkLen() int {
	if !p.parts() {
		return 0
	}
	return p.rows.chunks * p.slices * p.columns * p.C
}

// parts reports whether windows are summed up in parts: a single sum of many values of one sign loses digits.
func (p *Pooling) parts() bool { return !p.Max && p.Win.Taps() > poolTaps }

const poolTaps = 512

const (
	poolSlice = 64      // channels that are not divided among threads
	poolWork  = 1 << 24 // work of one chunk of a single row
)

// Chunk computes chunk i of the division that Plan made.
func (p *Pooling) Chunk(i int) {
	slices := rowChunks{ceilDiv(p.C, poolSlice), p.slices}
	c0, c1 := slices.bounds(i % p.slices)
	x0, x1 := rowChunks{p.Win.Out[2], p.columns}.bounds(i / p.slices % p.columns)
	for r, end := p.rows.bounds(i / p.slices / p.columns); r < end; r++ {
		p.row(r, x0, x1, c0*poolSlice, min(p.C, c1*poolSlice), i)
	}
}

// Run computes the whole pooling on the calling goroutine.
func (p *Pooling) Run() {
	chunks := p.Plan(1)
	if n := p.WorkLen(); len(p.Work) < n {
		p.Work = make([]float32, n)
	}
	for i := range chunks {
		p.Chunk(i)
	}
}

// poolRun is the number of channels up to which a call takes a whole row.
const poolRun = 16

// row computes channels c0 <= c < c1 of outputs from <= x < to of one row, for a chunk.
func (p *Pooling) row(r, from, to, c0, c1, chunk int) {
	if c0 == c1 {
		return
	}
	w := &p.Win
	oy := r % w.Out[1]
	ky0, ky1 := w.valid(1, oy)
	image := p.In[r/w.Out[1]*w.In[1]*w.In[2]*p.LDI+c0:]
	irow, icol := 4*max(1, w.Dilation[1])*w.In[2]*p.LDI, 4*max(1, w.Dilation[2])*p.LDI
	ix := 4 * max(1, w.Stride[2]) * p.LDI
	x0, x1 := w.interior(2)
	for x := from; x < to; {
		out := p.Out[(r*w.Out[2]+x)*p.LDO+c0:]
		kx0, kx1, pixels := 0, w.Kernel[2], 1
		if x >= x0 && x < x1 {
			if pixels = min(x1, to) - x; c1-c0 > poolRun { // a call walks them once per vector of channels
				pixels = min(pixels, 4)
			}
		} else {
			kx0, kx1 = w.valid(2, x)
		}
		if ky0 >= ky1 || kx0 >= kx1 {
			for i := range c1 - c0 {
				out[i] = 0
				if p.Max {
					out[i] = -inf32
				}
			}
			x++
			continue
		}
		in := &image[(w.at(1, oy, ky0)*w.In[2]+w.at(2, x, kx0))*p.LDI]
		f, scale := fast.poolMax, float32(0)
		if !p.Max {
			n := (ky1 - ky0) * (kx1 - kx0)
			if p.IncludePad {
				n = w.padded(1, oy, p.PadAfter[1]) * w.padded(2, x, p.PadAfter[2])
			}
			f, scale = fast.poolSum, 1/float32(n)
		}
		if p.parts() && (ky1-ky0)*(kx1-kx0) > poolTaps {
			at := (w.at(1, oy, ky0)*w.In[2] + w.at(2, x, kx0)) * p.LDI
			p.sumOfParts(out[:c1-c0], p.Work[chunk*p.C:][:c1-c0], image[at:], ky1-ky0, kx1-kx0, irow, icol, scale)
			x++
			continue
		}
		f(c1-c0, ky1-ky0, kx1-kx0, pixels, in, irow, icol, ix, &out[0], 4*p.LDO, scale)
		x += pixels
	}
}

// sumOfParts computes one output: rows of the window are summed up in parts of about half of poolTaps.
func (p *Pooling) sumOfParts(out, work, in []float32, rows, cols, irow, icol int, scale float32) {
	per := max(1, poolTaps/2/cols)
	for r := 0; r < rows; r += per {
		to := work
		if r == 0 {
			to = out
		}
		fast.poolSum(len(out), min(per, rows-r), cols, 1, &in[r*irow/4], irow, icol, 0, &to[0], 0, scale)
		if r > 0 {
			BinaryVV(Add, out, out, work)
		}
	}
}

// SumTaps adds up the taps of windows: dst[r*ldd+c] is the sum of src[r*lds+c+y*down+x*across] for y < ys and x < xs,
// in that order. ys and xs are at least 1, and no distance is negative.
func SumTaps(dst []float32, ldd int, src []float32, lds, rows, cols, ys, xs, down, across int) {
	if rows <= 0 || cols <= 0 {
		return
	}
	need("SumTaps", "dst", len(dst), extent(rows, cols, ldd))
	need("SumTaps", "src", len(src), extent(rows, cols, lds)+(ys-1)*down+(xs-1)*across)
	per := rows
	if cols > poolRun {
		per = 4
	}
	for r := 0; r < rows; r += per {
		fast.poolSum(cols, ys, xs, min(per, rows-r), &src[r*lds], 4*down, 4*across, 4*lds, &dst[r*ldd], 4*ldd, 1)
	}
}

// MaxTaps finds the largest of taps: dst[c] is the largest src[c+y*down+x*across] for y < ys and x < xs, NaN if one is
// NaN. ys and xs are at least 1, and no distance is negative.
func MaxTaps(dst, src []float32, ys, xs, down, across int) {
	if len(dst) == 0 {
		return
	}
	need("MaxTaps", "src", len(src), len(dst)+(ys-1)*down+(xs-1)*across)
	fast.poolMax(len(dst), ys, xs, 1, &src[0], 4*down, 4*across, 0, &dst[0], 0, 0)
}

// padded counts the taps of output position o inside the input and its padding.
func (w *Window) padded(dim, o, after int) int {
	n := 0
	for k := range w.Kernel[dim] {
		if i := w.at(dim, o, k); i >= -w.Pad[dim] && i < w.In[dim]+after {
			n++
		}
	}
	return n
}
