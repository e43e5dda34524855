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

// island adds the step of an operator between codes.
func (b *builder) island(n *graph.Node) bool {
	if len(n.In) == 0 || len(n.Out) != 1 || n.In[0] == graph.None || b.coded[n.In[0]] == nil {
		return false
	}
	switch o := n.Op.(type) {
	case *op.Conv:
		return b.codedConv(n, o)
	case *op.MatMul:
		return b.codedProduct(n, o)
	case *op.Add:
		return b.codedAdd(n)
	case *op.Relu, *op.Clip:
		return b.codedClamp(n)
	case *op.AveragePool:
		return b.codedMean(n, o)
	case *op.MaxPool:
		return b.codedMaxPool(n, o)
	}
	return false
}

// foldFilter computes the filter of a node that was put off.
func (b *builder) foldFilter(n *graph.Node) {
	if len(n.In) < 2 || n.In[1] == graph.None || b.values[n.In[1]].data != nil {
		return
	}
	at := b.maker[n.In[1]]
	if at < 0 || !b.done[at] || b.filter(n.In[1]) == nil {
		return
	}
	if first := &b.graph.Nodes[at]; len(first.In) > 0 && b.values[first.In[0]].data == nil && b.maker[first.In[0]] >= 0 {
		b.folded(b.ctx, b.maker[first.In[0]])
	}
	b.folded(b.ctx, at)
}

// ending is what follows a sum up to its codes.
type ending struct {
	q       graph.Value // that holds the codes
	code    *coded
	add     []float32 // per output, nil: zeros
	lo, hi  uint8
	through []int // nodes on the way
}

// ending follows v, outputs along axis, through additions of constants and clamps to a QuantizeLinear; nil when it does
// not get there.
func (b *builder) ending(v graph.Value, axis int) *ending {
	return b.endingBy(v, b.onlyUse(v), axis)
}

// endingOf is ending from the node i that reads v on, which is the one being emitted.
func (b *builder) endingOf(v graph.Value, i int) *ending {
	e := b.endingBy(v, i, none)
	if e != nil {
		e.through = e.through[1:]
	}
	return e
}

// endingBy goes from v by way of node i, then by every only reader.
func (b *builder) endingBy(v graph.Value, i, axis int) *ending {
	e := &ending{}
	dims := b.values[v].dims
	lo, hi := float32(math.Inf(-1)), float32(math.Inf(1))
	clamped := false
	for ; ; i = b.onlyUse(v) {
		if i == none || b.done[i] || slices.Contains(e.through, i) {
			return nil
		}
		n := &b.graph.Nodes[i]
		if len(n.Out) != 1 || !slices.Equal(b.values[n.Out[0]].dims, dims) {
			return nil
		}
		e.through = append(e.through, i)
		switch n.Op.(type) {
		case *op.Quantize:
			q := n.Out[0]
			if e.code = b.byteCode(n, b.values[q].typ.DType); e.code == nil || n.In[0] != v || b.block(n) {
				return nil
			}
			e.q, e.lo, e.hi = q, e.code.of(lo), e.code.of(hi)
			return e
		case *op.Add:
			other := n.In[0]
			if other == v {
				other = n.In[1]
			}
			c := b.perChannel(other, dims, axis)
			if c == nil || e.add != nil || clamped {
				return nil
			}
			e.add = c
		case *op.Relu, *op.Clip:
			a, ok := b.activation(n)
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
		if !b.values[v].fast() {
			return nil
		}
	}
}

func (b *builder) block(n *graph.Node) bool { o, is := n.Op.(*op.Quantize); return is && o.Block != 0 }

// of returns the code of a number.
func (c *coded) of(v float32) uint8 {
	var y [1]uint8
	kernel.EncodeU8(y[:], []float32{v}, c.scale, int(c.zero))
	return y[0]
}

// codedSum is a sum of products between codes with everything resolved.
type codedSum struct {
	x        graph.Value
	f        *filter
	taps     int
	ic, n    int // inputs per output, outputs
	bias     []float32
	end      *ending
	turned   bool // the codes are [inputs, outputs]
	codes    []byte
	unsigned bool
}

// post returns how sums are requantized, apart from what they start with; ok is false when it is out of reach of
// float32. whole is what the bias adds to sums where it is a multiple of their unit.
func (b *builder) post(c *codedSum) (q kernel.Requantize, whole []int32, ok bool) {
	x, e := b.coded[c.x], c.end
	q = kernel.Requantize{Zero: int(e.code.zero), Lo: e.lo, Hi: e.hi, Scale: make([]float32, c.n)}
	whole = make([]int32, c.n)
	reach := 255 * 128 * float64(c.taps*c.ic)
	if reach >= 1<<30 {
		return q, nil, false
	}
	for j := range c.n {
		unit := float64(x.scale) * float64(c.f.scale[j%len(c.f.scale)])
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
			return q, nil, false
		}
	}
	return q, whole, true
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

func (b *builder) load(c *codedSum) {
	w := &b.values[c.f.codes]
	c.codes, c.unsigned = w.data, w.typ.DType == tensor.Uint8
}

// packCodes packs the filters as taps runs of k inputs and computes what sums start with: the bias less the share of
// the zero point.
func (b *builder) packCodes(c *codedSum, taps, k int, whole []int32) (codes []int8, init []int32) {
	b.load(c)
	size := (kernel.PackedInt8Len(taps, k, c.n) + 3) / 4
	zero := b.coded[c.x].zero
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
			init[j] = whole[j] - zero*sum
		}
		kernel.PackInt8(codes[part*kernel.IntCols*(kernel.PackedInt8Len(taps, k, 16)/16):], rows, taps, k, to-from, taps*k)
	}
	dst := b.pack(p)
	return bytesAsInt8(dst[:size]), intsOf(dst[size:])
}

func bytesAsInt8(v []float32) []int8 {
	return unsafe.Slice((*int8)(unsafe.Pointer(unsafe.SliceData(v))), 4*len(v))
}

func intsOf(v []float32) []int32 {
	return unsafe.Slice((*int32)(unsafe.Pointer(unsafe.SliceData(v))), len(v))
}

// finish marks what a step takes over and returns the buffer of the codes it makes.
func (b *builder) finish(e *ending, last bool) int {
	for _, i := range e.through {
		b.fuse(i)
	}
	b.setCoded(e.q, e.code)
	return *b.bytes(e.q, last)
}

// codedConv adds a convolution of codes with codes.
func (b *builder) codedConv(n *graph.Node, o *op.Conv) bool {
	x, wd := &b.values[n.In[0]], b.values[n.In[1]].dims
	rank := len(x.dims)
	f := b.filter(n.In[1])
	if f == nil || o.ChannelsLast || rank < 3 || rank > 5 || len(wd) != rank || b.pads[n.In[0]] != nil ||
		x.count() > math.MaxInt32 {
		return false
	}
	if len(f.scale) > 1 && (f.axis != 0 || len(f.scale) != int(wd[0])) {
		return false
	}
	ws, err := o.Windows(x.dims[2:], wd[1:rank-1])
	if err != nil {
		return false
	}
	win, err := window(ws)
	if err != nil {
		return false
	}
	groups := int(max(o.Groups, 1))
	c := &codedSum{x: n.In[0], f: f, taps: win.Taps(), ic: int(wd[rank-1]), n: int(wd[0])}
	var ok bool
	if c.bias, ok = b.bias(n.In, 2, c.n); !ok {
		return false
	}
	if c.end = b.ending(n.Out[0], 1); c.end == nil {
		return false
	}
	q, whole, ok := b.post(c)
	if !ok {
		return false
	}
	batch, channels := int(x.dims[0]), int(x.dims[1])
	conv := convolution{win: win, taps: c.taps, c: channels, groups: groups, ic: c.ic, oc: c.n / groups}
	switch {
	case conv.depthwise() && kernel.FastDepthwiseInt8(c.taps):
		return b.codedDepthwise(c, win, batch, q, whole)
	case groups > 1:
		return false
	}
	t := codedTask{GemmInt8: kernel.GemmInt8{M: batch * win.Outputs(), N: c.n, K: channels, LDA: channels, LDC: c.n,
		Post: q}}
	s := step{fast: true, reads: []int{b.codesIn(n.In[0], true)}}
	taps, k := c.taps, channels
	switch {
	case conv.pointwise():
	case conv.small(): // a row of taps is one run of an image with its border
		t.frame = newFrame(win, batch, channels)
		s.scratch = b.buffer(buffer{place: inArena, size: int64(t.frame.size() + codedSlack)})
		taps, k = win.Kernel[1], win.Kernel[2]*channels
		t.K = k
		win = t.frame.window(win)
		if t.table, err = b.window(win, batch, channels); err != nil {
			return false
		}
	default:
		if t.table, err = b.window(win, batch, channels); err != nil {
			return false
		}
		t.Zero = slices.Repeat([]uint8{uint8(b.coded[n.In[0]].zero)}, channels+codedSlack)
	}
	t.zero = uint8(b.coded[n.In[0]].zero)
	t.B, t.Post.Init = b.packCodes(c, taps, k, whole)
	s.writes = []int{b.finish(c.end, true)}
	b.codedStep(s, t)
	return true
}

// codedProduct adds a product of codes with a matrix of codes.
func (b *builder) codedProduct(n *graph.Node, o *op.MatMul) bool {
	x, wd := &b.values[n.In[0]], b.values[n.In[1]].dims
	f := b.filter(n.In[1])
	if f == nil || f.moved || len(wd) != 2 || o.TransposeA || len(x.dims) < 2 {
		return false
	}
	outputs, depth, axis := int(wd[1]), int(wd[0]), 1
	if o.TransposeB {
		outputs, depth, axis = depth, outputs, 0
	}
	if len(f.scale) > 1 && (f.axis != axis || len(f.scale) != outputs) {
		return false
	}
	c := &codedSum{x: n.In[0], f: f, taps: 1, ic: depth, n: outputs, turned: !o.TransposeB}
	var ok bool
	if c.bias, ok = b.columnBias(n.In, outputs); !ok {
		return false
	}
	if c.end = b.ending(n.Out[0], len(b.values[n.Out[0]].dims)-1); c.end == nil {
		return false
	}
	q, whole, ok := b.post(c)
	if !ok {
		return false
	}
	t := codedTask{GemmInt8: kernel.GemmInt8{M: x.count() / depth, N: outputs, K: depth, LDA: depth, LDC: outputs,
		Post: q}}
	s := step{fast: true, reads: []int{b.codesIn(n.In[0], false)}}
	t.B, t.Post.Init = b.packCodes(c, 1, depth, whole)
	s.writes = []int{b.finish(c.end, false)}
	b.codedStep(s, t)
	return true
}

func (b *builder) codedStep(s step, t codedTask) {
	s.start = func(_ *State, st *step) process {
		own := t
		own.st = st
		return &own
	}
	b.add(s)
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
