package ops

import (
	"unsafe"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
)

// positionSums computes for each position of a result what the codes that its window reads sum up to, less the zero
// point of each: first for each position of the images, then along rows, then along columns.
type positionSums struct {
	padded         *paddedImage // nil: images are read where they are
	run, down      int          // of a padded image: codes of a row of taps, bytes from one row of a window to the next
	zero           int32
	win            kernel.Window
	batch          int
	at             int64 // of the sums in scratch memory
	gemm           kernel.GemmInt8
	x, across, all []int32
	step           int
}

// newPositionSums is for images as they are, or as they are in padded, unless that is nil.
func newPositionSums(c *qdqSum, padded *paddedImage, at int64) *positionSums {
	p := &positionSums{win: c.win, batch: c.batch, at: at, zero: c.x.Zero}
	if padded != nil && kernel.FastRowSums() {
		p.padded, p.run = padded, c.win.Kernel[2]*c.channels
		p.down = padded.full * max(1, c.win.Dilation[1])
		return p
	}
	k := c.channels
	ones := make([]int8, k)
	for i := range ones {
		ones[i] = 1
	}
	b := make([]int8, kernel.PackedInt8Len(1, k, 1))
	kernel.PackInt8(b, ones, 1, k, 1, k)
	p.gemm = kernel.GemmInt8{M: p.images() * c.win.In[1] * c.win.In[2], N: 1, K: k, LDA: k, LDC: 1, B: b, SumsOnly: true,
		Post: kernel.Requantize{Init: []int32{-c.x.Zero * int32(k)}}}
	if c.win.Taps() == 1 && c.win.In == c.win.Out { // a product, or a convolution of single positions
		p.gemm.M = c.batch * c.win.Outputs()
	}
	return p
}

func (p *positionSums) images() int { return p.batch * p.win.In[0] }

// alone reports whether windows are single positions, so that their sums are ready.
func (p *positionSums) alone() bool { return p.win.Taps() == 1 && p.win.In == p.win.Out }

// sizes are the numbers of values after each step.
func (p *positionSums) sizes() (x, across, all int) {
	if p.padded != nil {
		return p.batch * p.win.Outputs(), 0, 0
	}
	x = p.gemm.M
	if p.alone() {
		return x, 0, 0
	}
	return x, p.images() * p.win.In[1] * p.win.Out[2], p.images() * p.win.Out[1] * p.win.Out[2]
}

// end is where the scratch memory ends.
func (p *positionSums) end() int64 {
	x, across, all := p.sizes()
	return p.at + 4*int64(x+across+all)
}

// rows computes the sums, given codes, those of the padded images if there are such, and scratch memory.
func (p *positionSums) rows(s *run.State, codes, memory []byte) []int32 {
	x, across, all := p.sizes()
	work := unsafe.Slice((*int32)(unsafe.Pointer(&memory[p.at])), x+across+all)
	p.x, p.across, p.all = work[:x], work[x:x+across], work[x+across:]
	p.gemm.A = codes
	if p.padded != nil {
		p.step = 2
		s.Do(p.batch*p.win.Out[1], p)
		return p.x
	}
	p.gemm.Plan(1)
	p.step = 0
	s.Do((x+sumRows-1)/sumRows, p)
	if p.alone() {
		return p.x
	}
	p.step = 1
	s.Do(p.images(), p)
	return p.all
}

const sumRows = 1 << 12 // of a chunk

// begin makes sums of n codes what they start with.
func (p *positionSums) begin(sums []int32, n int) {
	for i := range sums {
		sums[i] = -p.zero * int32(n)
	}
}

// windows sums up what the windows of one row of the results read of a padded image.
func (p *positionSums) windows(i int) {
	w := &p.win
	sums := p.x[i*w.Out[2]:][:w.Out[2]]
	p.begin(sums, w.Kernel[1]*p.run)
	at := (i/w.Out[1]*p.padded.height + i%w.Out[1]*max(1, w.Stride[1])) * p.padded.full
	kernel.AddRowPairs(sums, p.gemm.A[at:], kernel.CodeRows{K: p.run, LD: max(1, w.Stride[2]) * p.run / w.Kernel[2],
		Runs: w.Kernel[1], Down: p.down})
}

// Chunk computes some positions, one image, or one row of the results.
func (p *positionSums) Chunk(i, _ int) {
	if p.step == 2 {
		p.windows(i)
		return
	}
	if p.step == 0 {
		from, to := i*sumRows, min(len(p.x), (i+1)*sumRows)
		part := p.x[from:to]
		if k := p.gemm.K; kernel.FastRowSums() {
			p.begin(part, k)
			if p.alone() {
				kernel.AddRowPairs(part, p.gemm.A[from*k:], kernel.CodeRows{K: k, LD: k, Runs: 1})
			} else {
				kernel.AddRowSums(part, p.gemm.A[from*k:], kernel.CodeRows{K: k, LD: k, Runs: 1})
			}
			return
		}
		sums := unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(part))), len(part)) // whole numbers below 2^24
		p.gemm.Sums(sums, from, to)
		for k, v := range sums {
			part[k] = int32(v)
		}
		if p.alone() {
			inPairs(part)
		}
		return
	}
	w := &p.win
	in, out := p.x[i*w.In[1]*w.In[2]:][:w.In[1]*w.In[2]], p.all[i*w.Out[1]*w.Out[2]:][:w.Out[1]*w.Out[2]]
	across := p.across[i*w.In[1]*w.Out[2]:][:w.In[1]*w.Out[2]]
	for y := range w.In[1] {
		along(across[y*w.Out[2]:], in[y*w.In[2]:], w, 2, 1)
	}
	for x := range w.Out[2] {
		along(out[x:], across[x:], w, 1, w.Out[2])
	}
	inPairs(out)
}

// inPairs makes of sums what kernels take.
func inPairs(sums []int32) {
	for i, v := range sums {
		sums[i] = kernel.RowPair(v)
	}
}

// along sums up what the window reads along dimension d, whose values are ld apart.
func along(dst, src []int32, w *kernel.Window, d, ld int) {
	stride, dilation := max(1, w.Stride[d]), max(1, w.Dilation[d])
	for o := range w.Out[d] {
		sum, at := int32(0), o*stride-w.Pad[d]
		for range w.Kernel[d] {
			if at >= 0 && at < w.In[d] {
				sum += src[at*ld]
			}
			at += dilation
		}
		dst[o*ld] = sum
	}
}
