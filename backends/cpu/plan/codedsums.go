package plan

import (
	"math"
	"slices"
	"unsafe"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// ending is what follows a sum up to its codes.
type ending struct {
	q      graph.Value // that holds the codes
	code   coding
	add    []float32 // per output, nil: zeros
	lo, hi uint8
	nodes  []int // on the way
}

// endingOf follows v, outputs along axis, through additions of constants and clamps to a QuantizeLinear; nil when it
// does not get there.
func endingOf(p *program, v graph.Value, axis int) *ending {
	return endingBy(p, v, p.net.onlyUse(v), axis)
}

// endingBy goes from v by way of node i, then by every only reader.
func endingBy(p *program, v graph.Value, i, axis int) *ending {
	g, e := p.net, &ending{}
	dims := g.values[v].dims
	lo, hi := float32(math.Inf(-1)), float32(math.Inf(1))
	clamped := false
	for ; ; i = g.onlyUse(v) {
		if p.taken(i) || slices.Contains(e.nodes, i) {
			return nil
		}
		n := &g.graph.Nodes[i]
		if len(n.Out) != 1 || !slices.Equal(g.values[n.Out[0]].dims, dims) {
			return nil
		}
		e.nodes = append(e.nodes, i)
		switch n.Op.(type) {
		case *op.Quantize:
			var ok bool
			if e.code, ok = codingOf(g, n, g.values[n.Out[0]].typ.DType); !ok || n.In[0] != v {
				return nil
			}
			e.q, e.lo, e.hi = n.Out[0], e.code.of(lo), e.code.of(hi)
			return e
		case *op.Add:
			other := n.In[0]
			if other == v {
				other = n.In[1]
			}
			c := perChannel(g, other, dims, axis)
			if c == nil || e.add != nil || clamped {
				return nil
			}
			e.add = c
		case *op.Relu, *op.Clip:
			a, ok := activation(g, n)
			if !ok || n.In[0] != v {
				return nil
			}
			if a.Op == kernel.Relu {
				a.Alpha, a.Beta = 0, float32(math.Inf(1))
			}
			lo, hi = min(max(lo, a.Alpha), a.Beta), min(max(hi, a.Alpha), a.Beta)
			clamped = true
		default:
			return nil
		}
		v = n.Out[0]
		if !g.values[v].fast() {
			return nil
		}
	}
}

// patch is the one of the operation between the codes of in and those that e names.
func (e *ending) patch(p *program, i int, op operation, in ...graph.Value) *patch {
	return p.coded(i, op, in, e.q, e.code, without(e.nodes, i)...)
}

// codedSum is a sum of products between codes with everything resolved.
type codedSum struct {
	at       int // node of the graph
	x        coding
	f        *filter
	win      kernel.Window
	batch    int
	channels int // of the images
	taps     int
	ic, n    int // inputs per output, outputs
	bias     []float32
	end      *ending
	turned   bool // the codes are [inputs, outputs]
	codes    []byte
	unsigned bool
	post     kernel.Requantize
	whole    []int32 // what the bias adds to sums where it is a multiple of their unit
}

// requantize finds how sums are requantized, apart from what they start with; ok is false when it is out of reach of
// float32.
func (c *codedSum) requantize() (ok bool) {
	e := c.end
	q := kernel.Requantize{Zero: int(e.code.zero), Lo: e.lo, Hi: e.hi, Scale: make([]float32, c.n)}
	whole := make([]int32, c.n)
	reach := 255 * 128 * float64(c.taps*c.ic)
	if reach >= 1<<30 {
		return false
	}
	for j := range c.n {
		unit := float64(c.x.scale) * float64(c.f.scale[j%len(c.f.scale)])
		m := unit / float64(e.code.scale)
		q.Scale[j] = float32(m)
		bias := 0.0
		if c.bias != nil {
			bias = float64(c.bias[j])
		}
		if e.add != nil {
			bias += float64(e.add[j])
		}
		far := bias / unit
		if r := math.Round(far); math.Abs(far-r) <= math.Abs(far)/(1<<22) && math.Abs(r) < 1<<30 {
			whole[j] = int32(r)
		} else {
			if q.Add == nil {
				q.Add = make([]float32, c.n)
			}
			q.Add[j] = float32(bias / float64(e.code.scale))
		}
		if !(math.Abs(far)+reach < (1<<31)/max(1, m)) || m < 1e-30 {
			return false
		}
	}
	c.post, c.whole = q, whole
	return true
}

// row returns the signed codes of output j, [taps, inputs].
func (c *codedSum) row(dst []int8, j int) {
	flip := byte(0)
	if c.unsigned {
		flip = 128
	}
	depth := c.taps * c.ic
	switch {
	case c.turned:
		for k := range depth {
			dst[k] = int8(c.codes[k*c.n+j] ^ flip)
		}
	case c.f.moved:
		src := c.codes[j*depth:][:depth]
		for t := range c.taps {
			for i := range c.ic {
				dst[t*c.ic+i] = int8(src[i*c.taps+t] ^ flip)
			}
		}
	default:
		for k, v := range c.codes[j*depth:][:depth] {
			dst[k] = int8(v ^ flip)
		}
	}
}

// pack packs the filters as taps runs of k inputs and computes what sums start with: the bias less the share of the
// zero point.
func (c *codedSum) pack(w *lowering, taps, k int) (codes []int8, init []int32) {
	size := (kernel.PackedInt8Len(taps, k, c.n) + 3) / 4
	p := packed{value: c.f.codes, kind: "codes", len: size + c.n, parts: kernel.IntPanels(c.n)}
	p.fill = func(dst []float32, part int) {
		codes, init := bytesAsInt8(dst[:size]), intsOf(dst[size:])
		from, to := part*kernel.IntCols, min(c.n, (part+1)*kernel.IntCols)
		rows := make([]int8, (to-from)*taps*k)
		for j := from; j < to; j++ {
			r := rows[(j-from)*taps*k:][:taps*k]
			c.row(r, j)
			sum := int32(0)
			for _, v := range r {
				sum += int32(v)
			}
			init[j] = c.whole[j] - c.x.zero*sum
		}
		kernel.PackInt8(codes[part*kernel.IntCols*(kernel.PackedInt8Len(taps, k, 16)/16):], rows, taps, k, to-from, taps*k)
	}
	dst := w.packer.order(c.at, p)
	return bytesAsInt8(dst[:size]), intsOf(dst[size:])
}

func bytesAsInt8(v []float32) []int8 {
	return unsafe.Slice((*int8)(unsafe.Pointer(unsafe.SliceData(v))), 4*len(v))
}

func intsOf(v []float32) []int32 {
	return unsafe.Slice((*int32)(unsafe.Pointer(unsafe.SliceData(v))), len(v))
}

// filter gives c the filter of an operator whose outputs are counted along axis of the codes; ok is false when there is
// none, or none of as many scales.
func (c *codedSum) filter(g *network, v graph.Value, axis int) (ok bool) {
	if c.f == nil || len(c.f.scale) > 1 && (c.f.axis != axis || len(c.f.scale) != c.n) {
		return false
	}
	w := &g.values[c.f.codes]
	c.codes, c.unsigned = w.data, w.typ.DType == tensor.Uint8
	return true
}

// patch is the one of a sum that node i stands for, in place of those that make the filter's numbers.
func (c *codedSum) patch(p *program, i int, op operation) *patch {
	n := &p.net.graph.Nodes[i]
	found := c.end.patch(p, i, op, n.In[0])
	for _, k := range c.f.nodes {
		if p.net.held[k] {
			found.unread = append(found.unread, k)
		}
	}
	return found
}

// matchCodedConv finds a convolution of codes with codes.
func matchCodedConv(p *program, i int) *patch {
	g, n := p.net, &p.net.graph.Nodes[i]
	o, is := n.Op.(*op.Conv)
	if !is || !p.isCoded(n.In[0]) {
		return nil
	}
	x, wd := &g.values[n.In[0]], g.values[n.In[1]].dims
	rank := len(x.dims)
	if o.ChannelsLast || rank < 3 || rank > 5 || len(wd) != rank || x.count() > math.MaxInt32 {
		return nil
	}
	ws, err := o.Windows(x.dims[2:], wd[1:rank-1])
	if err != nil {
		return nil
	}
	win, err := window(ws)
	if err != nil {
		return nil
	}
	c := &codedSum{at: i, x: p.codings[n.In[0]], f: filterOf(g, n.In[1]), win: win, batch: int(x.dims[0]),
		channels: int(x.dims[1]), taps: win.Taps(), ic: int(wd[rank-1]), n: int(wd[0])}
	var ok bool
	if c.bias, ok = biasOf(g, n.In, 2, c.n); !ok || !c.filter(g, n.In[1], 0) {
		return nil
	}
	if c.end = endingOf(p, n.Out[0], 1); c.end == nil || !c.requantize() {
		return nil
	}
	groups := int(max(o.Groups, 1))
	conv := convolution{win: win, taps: c.taps, c: c.channels, groups: groups, ic: c.ic, oc: c.n / groups}
	q := &codedGemmOp{sum: c, order: nhwc, taps: c.taps, depth: c.channels, window: win}
	switch {
	case conv.depthwise() && kernel.FastDepthwiseInt8(c.taps):
		return c.patch(p, i, c.depthwise())
	case groups > 1:
		return nil
	case conv.pointwise():
		return c.patch(p, i, q)
	case conv.small(): // a row of taps is one run of an image with its border
		q.frame = newFrame(win, c.batch, c.channels)
		q.taps, q.depth = win.Kernel[1], win.Kernel[2]*c.channels
		q.window = q.frame.window(win)
	}
	q.table = true
	if kernel.CheckIndirection(q.window, c.batch, c.channels) != nil {
		return nil
	}
	return c.patch(p, i, q)
}

// matchCodedProduct finds a product of codes with a matrix of codes.
func matchCodedProduct(p *program, i int) *patch {
	g, n := p.net, &p.net.graph.Nodes[i]
	o, is := n.Op.(*op.MatMul)
	if !is || !p.isCoded(n.In[0]) {
		return nil
	}
	x, wd := &g.values[n.In[0]], g.values[n.In[1]].dims
	f := filterOf(g, n.In[1])
	if f == nil || f.moved || len(wd) != 2 || o.TransposeA || len(x.dims) < 2 {
		return nil
	}
	outputs, depth, axis := int(wd[1]), int(wd[0]), 1
	if o.TransposeB {
		outputs, depth, axis = depth, outputs, 0
	}
	c := &codedSum{at: i, x: p.codings[n.In[0]], f: f, batch: x.count() / depth, channels: depth, taps: 1, ic: depth,
		n: outputs, turned: !o.TransposeB}
	c.win, _ = window(nil)
	var ok bool
	if c.bias, ok = columnBias(g, n.In, outputs); !ok || !c.filter(g, n.In[1], axis) {
		return nil
	}
	if c.end = endingOf(p, n.Out[0], len(g.values[n.Out[0]].dims)-1); c.end == nil || !c.requantize() {
		return nil
	}
	return c.patch(p, i, &codedGemmOp{sum: c, order: nchw, taps: 1, depth: depth})
}

// codedGemmOp is a sum of products between codes as a product of matrices.
type codedGemmOp struct {
	sum         *codedSum
	order       order
	taps, depth int // runs of inputs, and their lengths
	table       bool
	window      kernel.Window // of the table
	frame       *frame        // nil: images are read where they are
}

func (q *codedGemmOp) layout(l *layouter, n *node) { inCodes(l, n, q.order) }

// inCodes is the layout of operations that take codes and make codes in one order.
func inCodes(l *layouter, n *node, o order) {
	for _, v := range n.in {
		n.reads = append(n.reads, l.codes(v, o))
	}
	n.writes = []int{l.makeCodes(n.out[0], o)}
}

func (q *codedGemmOp) lower(w *lowering, n *node) step {
	c, zero := q.sum, uint8(q.sum.x.zero)
	t := codedTask{frame: q.frame, zero: zero, GemmInt8: kernel.GemmInt8{M: c.batch * c.win.Outputs(), N: c.n, K: q.depth,
		LDA: c.channels, LDC: c.n, Post: c.post}}
	s := step{fast: true}
	if q.table {
		t.table = w.window(q.window, c.batch, n.reads[0], c.channels)
	}
	switch {
	case q.frame != nil:
		s.room = int64(q.frame.size() + codeSlack)
	case q.table:
		t.Zero = slices.Repeat([]uint8{zero}, c.channels+codeSlack)
	}
	t.B, t.Post.Init = c.pack(w, q.taps, q.depth)
	s.start = func(_ *State, st *step) process {
		own := t
		own.st = st
		return &own
	}
	return s
}

type codedTask struct {
	st    *step
	frame *frame
	table *windowTable
	zero  uint8
	kernel.GemmInt8
}

func (t *codedTask) run(s *State) error {
	var err error
	if t.Ind, err = t.table.get(); err != nil {
		return err
	}
	t.A, t.C = s.mem[t.st.reads[0]], s.mem[t.st.writes[0]]
	if t.frame != nil {
		own := s.mem[t.st.scratch]
		t.frame.fill(own, t.A, t.zero)
		t.A = own
	}
	s.do(t.Plan(s.threads), t)
	return nil
}

// Chunk computes part of the product.
func (t *codedTask) Chunk(i, _ int) { t.GemmInt8.Chunk(i) }
