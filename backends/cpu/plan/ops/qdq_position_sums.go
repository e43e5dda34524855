package ops

import (
	"unsafe"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
)

// positionSums computes for each position of a result what the codes that its window reads sum up to, less the zero
// point of each: first for each position of the images, then along rows, then along columns.
type positionSums struct {
	win            kernel.Window
	batch          int
	at             int64 // of the sums in scratch memory
	gemm           kernel.GemmInt8
	x, across, all []int32
	step           int
}

func newPositionSums(c *qdqSum, at int64) *positionSums {
	p := &positionSums{win: c.win, batch: c.batch, at: at}
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

// rows computes the sums, given codes and scratch memory.
func (p *positionSums) rows(s *run.State, codes, memory []byte) []int32 {
	x, across, all := p.sizes()
	work := unsafe.Slice((*int32)(unsafe.Pointer(&memory[p.at])), x+across+all)
	p.x, p.across, p.all = work[:x], work[x:x+across], work[x+across:]
	p.gemm.A = codes
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

// Chunk computes some positions, or one image.
func (p *positionSums) Chunk(i, _ int) {
	if p.step == 0 {
		from, to := i*sumRows, min(len(p.x), (i+1)*sumRows)
		part := p.x[from:to]
		sums := unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(part))), len(part)) // whole numbers below 2^24
		p.gemm.Sums(sums, from, to)
		for k, v := range sums {
			part[k] = int32(v)
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
