package plan

import (
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// codedDepthwise adds a depthwise convolution of codes with codes.
func (b *builder) codedDepthwise(c *codedSum, win kernel.Window, batch int, q kernel.Requantize, whole []int32) bool {
	b.load(c)
	taps, lanes := c.taps, kernel.DepthwiseLanes(c.n)
	size := (kernel.PackedDepthwiseInt8Len(taps, c.n) + 3) / 4
	zero := b.coded[c.x].zero
	p := packed{value: c.f.codes, kind: "codes", len: size + lanes, parts: 1}
	p.fill = func(dst []float32, _ int) {
		init, rows := intsOf(dst[size:]), make([]int8, c.n*taps)
		for j := range c.n {
			r := rows[j*taps:][:taps]
			c.row(r, j)
			sum := int32(0)
			for _, v := range r {
				sum += int32(v)
			}
			init[kernel.DepthwiseLane(j)] = whole[j] - zero*sum
		}
		kernel.PackDepthwiseInt8(bytesAsInt8(dst[:size]), rows, win.Kernel, c.n)
	}
	dst := b.pack(p)
	q.Init, q.Scale, q.Add = intsOf(dst[size:]), inLanes(q.Scale), inLanes(q.Add)
	b.depthwiseCodes(c.x, c.end, kernel.DepthwiseInt8{C: c.n, Batch: batch, Win: win, W: bytesAsInt8(dst[:size]), Post: q})
	return true
}

// inLanes brings values per channel into the order of the depthwise kernel.
func inLanes(v []float32) []float32 {
	if v == nil {
		return nil
	}
	out := make([]float32, kernel.DepthwiseLanes(len(v)))
	for c, x := range v {
		out[kernel.DepthwiseLane(c)] = x
	}
	return out
}

// depthwiseCodes adds the step of a depthwise kernel from the codes of x to those that e names.
func (b *builder) depthwiseCodes(x graph.Value, e *ending, d kernel.DepthwiseInt8) {
	d.LDI, d.LDO = d.C, d.C
	d.Border = slices.Repeat([]uint8{uint8(b.coded[x].zero)}, d.BorderLen())
	s := step{fast: true, reads: []int{b.codesIn(x, true)}}
	s.writes = []int{b.finish(e, true)}
	s.start = func(_ *State, st *step) process { return &codedDepthwiseTask{st, d} }
	b.add(s)
}

type codedDepthwiseTask struct {
	st *step
	kernel.DepthwiseInt8
}

func (t *codedDepthwiseTask) run(s *State) error {
	t.In, t.Out = s.mem[t.st.reads[0]], s.mem[t.st.writes[0]]
	s.do(t.Plan(s.threads), t)
	return nil
}

// Chunk computes some rows.
func (t *codedDepthwiseTask) Chunk(i, _ int) { t.DepthwiseInt8.Chunk(i) }

// codedMean adds the mean over all positions of an image: a depthwise sum with ones.
func (b *builder) codedMean(n *graph.Node, o *op.AveragePool) bool {
	x := &b.values[n.In[0]]
	if !o.Global || o.ChannelsLast || len(x.dims) != 4 {
		return false
	}
	h, w, channels := int(x.dims[2]), int(x.dims[3]), int(x.dims[1])
	if !kernel.FastDepthwiseInt8(h * w) {
		return false
	}
	e := b.ending(n.Out[0], none)
	if e == nil {
		return false
	}
	from := b.coded[n.In[0]]
	m := float64(from.scale) / float64(e.code.scale) / float64(h*w)
	if !(m > 1e-30 && m < 1e3) {
		return false
	}
	ones := slices.Repeat([]int8{1}, h*w*channels)
	codes := make([]int8, kernel.PackedDepthwiseInt8Len(h*w, channels))
	kernel.PackDepthwiseInt8(codes, ones, [3]int{1, h, w}, channels)
	lanes := kernel.DepthwiseLanes(channels)
	b.depthwiseCodes(n.In[0], e, kernel.DepthwiseInt8{
		C: channels, Batch: int(x.dims[0]), W: codes,
		Win: kernel.Window{In: [3]int{1, h, w}, Kernel: [3]int{1, h, w}, Stride: [3]int{1, 1, 1}, Dilation: [3]int{1, 1, 1},
			Out: [3]int{1, 1, 1}},
		Post: kernel.Requantize{
			Init: slices.Repeat([]int32{-from.zero * int32(h*w)}, lanes), Scale: slices.Repeat([]float32{float32(m)}, lanes),
			Zero: int(e.code.zero), Lo: e.lo, Hi: e.hi,
		},
	})
	return true
}
