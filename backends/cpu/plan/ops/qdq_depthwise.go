package ops

import (
	"math"
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
)

// depthwise is the operation of a depthwise convolution of images in an order, whose sums become codes by post.
func (c *qdqSum) depthwise(o run.Order, post kernel.Requantize) *qdqDepthwiseOp {
	_, minus, wide := c.numbers()
	scale := slices.Clone(post.Scale)
	for j := range scale {
		if minus[j] {
			scale[j] = -scale[j]
		}
	}
	post.Scale, post.Add = kernel.InDepthwiseLanes(scale, c.taps, wide),
		kernel.InDepthwiseLanes(post.Add, c.taps, wide)
	post.Low = kernel.InDepthwiseLanes(post.Low, c.taps, wide)
	return &qdqDepthwiseOp{sum: c, zero: c.x.Zero, order: o,
		kernel: kernel.DepthwiseInt8{C: c.n, Batch: c.batch, Win: c.win, Post: post, Wide: wide}}
}

// numbers returns the numbers of a depthwise filter, [outputs, taps], its codes less their zero points; those of
// outputs with minus have the other sign. wide says that int8 does not hold them.
func (c *qdqSum) numbers() (v []int16, minus []bool, wide bool) {
	v, minus = make([]int16, c.n*c.taps), make([]bool, c.n)
	row := make([]int8, c.taps)
	for j := range c.n {
		c.row(row, j)
		by, own := int16(0), v[j*c.taps:][:c.taps]
		if c.raw {
			by = int16(c.f.middle() - c.f.zeroAt(j))
		}
		for t, x := range row {
			own[t] = int16(x) + by
		}
		least, largest := slices.Min(own), slices.Max(own)
		wide = wide || least < math.MinInt8 || largest > math.MaxInt8
		if minus[j] = largest > 2*math.MaxInt8; minus[j] { // two bytes hold the number below zero alone
			for t := range own {
				own[t] = -own[t]
			}
		}
	}
	return v, minus, wide
}

// packDepthwise is pack of a depthwise convolution.
func (c *qdqSum) packDepthwise(w *ir.Lowering) (codes []int8, init []int32) {
	numbers, minus, wide := c.numbers()
	lanes := kernel.DepthwiseLanes(c.taps, c.n, wide)
	size := (kernel.PackedDepthwiseInt8Len(c.taps, c.n, wide) + 3) / 4
	p := ir.Packed{Value: c.f.codes, Kind: "codes by channel", Beside: c.beside(c.taps, 1), Len: size + lanes,
		Parts: 1}
	p.Fill = func(dst []float32, _ int) {
		init := make([]int32, c.n)
		for j := range c.n {
			sum := int32(0)
			for _, v := range numbers[j*c.taps:][:c.taps] {
				sum += int32(v)
			}
			if init[j] = c.whole[j]; minus[j] {
				init[j] = -init[j]
			}
			init[j] -= c.x.Zero * sum
		}
		copy(intsOf(dst[size:]), kernel.InDepthwiseLanes(init, c.taps, wide))
		kernel.PackDepthwiseInt8(bytesAsInt8(dst[:size]), numbers, c.win.Kernel, c.n, wide)
	}
	dst := w.Packer.Order(c.at, p)
	return bytesAsInt8(dst[:size]), intsOf(dst[size:])
}

// qdqDepthwiseOp computes codes of codes, each channel by itself.
type qdqDepthwiseOp struct {
	sum    *qdqSum // nil: kernel has the filters
	zero   int32   // of the operand
	order  run.Order
	kernel kernel.DepthwiseInt8
}

func (q *qdqDepthwiseOp) Layout(l *ir.Layouter, n *ir.Node) { inCodes(l, n, q.order) }

func (q *qdqDepthwiseOp) Lower(w *ir.Lowering, _ *ir.Node) run.Step {
	d := q.kernel
	if q.sum != nil {
		d.W, d.Post.Init = q.sum.packDepthwise(w)
	}
	d.LDI, d.LDO = d.C, d.C
	d.Border = slices.Repeat([]uint8{uint8(q.zero)}, d.BorderLen())
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process { return &qdqDepthwiseTask{st, d} }}
}

type qdqDepthwiseTask struct {
	st *run.Step
	kernel.DepthwiseInt8
}

func (t *qdqDepthwiseTask) Run(s *run.State) error {
	t.In, t.Out = s.Mem[t.st.Reads[0]], s.Mem[t.st.Writes[0]]
	s.Do(t.Plan(s.Threads), t)
	return nil
}

// Chunk computes some rows.
func (t *qdqDepthwiseTask) Chunk(i, _ int) { t.DepthwiseInt8.Chunk(i) }
