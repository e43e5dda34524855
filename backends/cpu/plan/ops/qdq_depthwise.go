package ops

import (
	"math"
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/op"
)

// depthwise is the operation of a depthwise convolution of images in an order, whose sums become codes by post.
func (c *qdqSum) depthwise(o run.Order, post kernel.Requantize) *qdqDepthwiseOp {
	taps := c.taps * c.bytesPerTap()
	post.Scale, post.Add = kernel.InDepthwiseLanes(post.Scale, taps), kernel.InDepthwiseLanes(post.Add, taps)
	post.Low = kernel.InDepthwiseLanes(post.Low, taps)
	return &qdqDepthwiseOp{sum: c, zero: c.x.Zero, order: o,
		kernel: kernel.DepthwiseInt8{C: c.n, Batch: c.batch, Win: c.win, Post: post, Times: c.bytesPerTap()}}
}

// bytesPerTap is how many bytes a number of a depthwise filter takes, its code less the zero point.
func (c *qdqSum) bytesPerTap() int {
	if !c.raw {
		return 1
	}
	row := make([]int8, c.taps)
	for j := range c.n {
		c.row(row, j)
		if by := int(c.f.middle() - c.f.zeroAt(j)); int(slices.Max(row))+by > 2*math.MaxInt8 {
			return 3
		}
	}
	return 2
}

// packDepthwise is pack of a depthwise convolution.
func (c *qdqSum) packDepthwise(w *ir.Lowering) (codes []int8, init []int32) {
	times := c.bytesPerTap()
	taps := c.taps * times
	lanes, sides := kernel.DepthwiseLanes(taps, c.n), c.win.Kernel
	sides[1] *= times
	size := (kernel.PackedDepthwiseInt8Len(taps, c.n) + 3) / 4
	p := ir.Packed{Value: c.f.codes, Kind: "codes by channel", Beside: c.beside(taps, 1), Len: size + lanes,
		Parts: 1}
	p.Fill = func(dst []float32, _ int) {
		init, rows := make([]int32, c.n), make([]int8, c.n*taps)
		for j := range c.n {
			r := rows[j*taps:][:taps]
			c.row(r[:c.taps], j)
			if c.raw { // each byte holds what it can of what is left of the difference
				by := int(c.f.middle() - c.f.zeroAt(j))
				for t, v := range r[:c.taps] {
					left := int(v) + by
					for at := t; at < taps; at += c.taps {
						part := max(math.MinInt8, min(math.MaxInt8, left))
						r[at], left = int8(part), left-part
					}
				}
			}
			sum := int32(0)
			for _, v := range r {
				sum += int32(v)
			}
			init[j] = c.whole[j] - c.x.Zero*sum
		}
		copy(intsOf(dst[size:]), kernel.InDepthwiseLanes(init, taps))
		kernel.PackDepthwiseInt8(bytesAsInt8(dst[:size]), rows, sides, c.n)
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

// matchQDQMean finds the mean over all positions of an image: a depthwise sum with ones.
func matchQDQMean(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.AveragePool)
	x := &g.Values[n.In[0]]
	if !is || !p.HasCodes(n.In[0]) || !o.Global || o.ChannelsLast || len(x.Dims) != 4 {
		return nil
	}
	h, w, channels := int(x.Dims[2]), int(x.Dims[3]), int(x.Dims[1])
	if !kernel.FastDepthwiseInt8(h*w, channels) {
		return nil
	}
	e := qdqEpilogueOf(p, n.Out[0], run.None)
	if e == nil {
		return nil
	}
	from := p.Params[n.In[0]]
	m := float64(from.Scale) / float64(e.params.Scale) / float64(h*w)
	if !(m > 1e-30 && m < 1e3) {
		return nil
	}
	ones := slices.Repeat([]int8{1}, h*w*channels)
	codes := make([]int8, kernel.PackedDepthwiseInt8Len(h*w, channels))
	kernel.PackDepthwiseInt8(codes, ones, [3]int{1, h, w}, channels)
	lanes := kernel.DepthwiseLanes(h*w, channels)
	return e.patch(p, i, &qdqDepthwiseOp{zero: from.Zero, order: run.NHWC, kernel: kernel.DepthwiseInt8{
		C: channels, Batch: int(x.Dims[0]), W: codes,
		Win: kernel.Window{In: [3]int{1, h, w}, Kernel: [3]int{1, h, w}, Stride: [3]int{1, 1, 1}, Dilation: [3]int{1, 1, 1},
			Out: [3]int{1, 1, 1}},
		Post: kernel.Requantize{
			Init: slices.Repeat([]int32{-from.Zero * int32(h*w)}, lanes), Scale: slices.Repeat([]float32{float32(m)}, lanes),
			Zero: int(e.params.Zero), Lo: e.lo, Hi: e.hi,
		},
	}}, n.In[0])
}
