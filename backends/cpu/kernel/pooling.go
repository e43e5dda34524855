package kernel

// Pooling is one pooling of channels-last input, channel by channel:
//
//	Max:  Out = the largest of the window's taps inside the input, NaN if one is NaN
//	else: Out = sum(taps inside the input) * (1/count)
//
// count is the number of taps inside the input or, with IncludePad, inside the
// input and its padding. A window without taps gives -Inf or 0. Sums are float32
// in tap order. Out must not overlap In. The first dimension of Win must be 1.
type Pooling struct {
	C, Batch   int
	Win        Window
	In         []float32
	LDI        int // values from one position to the next, at least C
	Out        []float32
	LDO        int
	Max        bool
	IncludePad bool
	PadAfter   [3]int // padding after the last element, for IncludePad

	rows rowChunks
}

// Plan checks the operands, divides the rows of the output into chunks for the
// given number of threads and returns their number.
func (p *Pooling) Plan(threads int) int {
	checkWindow("Pooling", &p.Win, p.Batch, p.C, len(p.In), p.LDI, len(p.Out), p.LDO)
	p.rows = divideRows(p.Batch*p.Win.Out[1], 4*p.Win.Taps()*p.C*p.Win.Out[2], threads)
	return p.rows.chunks
}

// Chunk computes chunk i of the division that Plan made.
func (p *Pooling) Chunk(i int) {
	for r, end := p.rows.bounds(i); r < end; r++ {
		p.row(r)
	}
}

// Run computes the whole pooling on the calling goroutine.
func (p *Pooling) Run() {
	for i := range p.Plan(1) {
		p.Chunk(i)
	}
}

type poolFn func(c, rows, cols, n int, in *float32, irow, icol, ix int, out *float32, ox int, scale float32)

var (
	poolMax poolFn = poolMaxGeneric
	poolSum poolFn = poolSumGeneric
)

// poolRun is the number of channels up to which a call takes a whole row.
const poolRun = 16

func (p *Pooling) row(r int) {
	if p.C == 0 {
		return
	}
	w := &p.Win
	oy := r % w.Out[1]
	ky0, ky1 := w.valid(1, oy)
	image := p.In[r/w.Out[1]*w.In[1]*w.In[2]*p.LDI:]
	irow, icol := 4*max(1, w.Dilation[1])*w.In[2]*p.LDI, 4*max(1, w.Dilation[2])*p.LDI
	ix := 4 * max(1, w.Stride[2]) * p.LDI
	x0, x1 := w.interior(2)
	for x := 0; x < w.Out[2]; {
		out := p.Out[(r*w.Out[2]+x)*p.LDO:]
		kx0, kx1, pixels := 0, w.Kernel[2], 1
		if x >= x0 && x < x1 {
			if pixels = x1 - x; p.C > poolRun { // a call walks them once per vector of channels
				pixels = min(pixels, 4)
			}
		} else {
			kx0, kx1 = w.valid(2, x)
		}
		if ky0 >= ky1 || kx0 >= kx1 {
			for i := range p.C {
				out[i] = 0
				if p.Max {
					out[i] = -inf32
				}
			}
			x++
			continue
		}
		in := &image[(w.at(1, oy, ky0)*w.In[2]+w.at(2, x, kx0))*p.LDI]
		f, scale := poolMax, float32(0)
		if !p.Max {
			n := (ky1 - ky0) * (kx1 - kx0)
			if p.IncludePad {
				n = w.padded(1, oy, p.PadAfter[1]) * w.padded(2, x, p.PadAfter[2])
			}
			f, scale = poolSum, 1/float32(n)
		}
		f(p.C, ky1-ky0, kx1-kx0, pixels, in, irow, icol, ix, &out[0], 4*p.LDO, scale)
		x += pixels
	}
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
