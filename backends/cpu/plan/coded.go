package plan

import (
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// Islands: between QuantizeLinear and DequantizeLinear tensors stay codes of 8 bits, one byte per element, and the
// operators there compute with integers. A value is coded when its codes exist; who needs the numbers has them made
// from the codes.
//
// Exactness: sums of products are exact in int32, whatever the order. So an island's code is that of the real result of
// its node, halves to even, unless the result before rounding lies within 2^-12 of the middle between two codes (2^-21
// for each code that the bias is worth, when that is more than 512); there it may be the other of the two. The same
// graph in float32 errs by up to 2^-23 of the sum of the magnitudes of all products and rounds to the other code when
// that crosses a middle. So a node's code differs from float32 arithmetic by at most one, and only where the real
// result is that close to a middle. Quantizing, views, maxima and codes read as numbers do not differ at all.

// coding is what the 8-bit codes of a value mean: scale * (code - zero). The codes are unsigned, those of int8 have 128
// added.
type coding struct {
	scale float32
	zero  int32
	typ   tensor.DType // that the graph gives the codes
}

// codeSlack is how far beyond the last code kernels may read.
const codeSlack = kernel.IntDepth - 1

// codingOf returns what a QuantizeLinear or DequantizeLinear node says that 8-bit codes mean, ok false when it is not
// one scale that kernels take.
func codingOf(g *network, n *graph.Node, typ tensor.DType) (d coding, ok bool) {
	if typ != tensor.Int8 && typ != tensor.Uint8 || n.In[1] == graph.None || g.values[n.In[1]].data == nil ||
		blockwise(n) {
		return d, false
	}
	c, ok := codeOf(g, n, typ)
	if !ok || !usableScale(c.scale) {
		return d, false
	}
	d = coding{scale: c.scale, zero: int32(c.zero), typ: typ}
	if typ == tensor.Int8 {
		d.zero += 128
	}
	return d, true
}

// blockwise reports whether a node quantizes or dequantizes blocks of elements.
func blockwise(n *graph.Node) bool {
	switch o := n.Op.(type) {
	case *op.Quantize:
		return o.Block != 0
	case *op.Dequantize:
		return o.Block != 0
	}
	return false
}

// isCoded reports whether v is there as codes.
func (p *program) isCoded(v graph.Value) bool {
	_, ok := p.codings[v]
	return ok
}

// coded is the patch of a node that makes the codes of v of those of its inputs.
func (p *program) coded(i int, op operation, in []graph.Value, v graph.Value, c coding, fused ...int) *patch {
	found := one(i, op, in, []graph.Value{v}, fused...)
	found.nodes[0].codes = true
	found.codings = map[graph.Value]coding{v: c}
	return found
}

// codeViewOp is a value whose codes are those of its operand, under the same or another meaning or shape.
type codeViewOp struct{ same bool } // same: the sizes are the same

func (q codeViewOp) layout(l *layouter, n *node) {
	n.none = true
	x, y := &l.forms[n.in[0]], &l.forms[n.out[0]]
	switch {
	case x.codes == [2]int{none, none} && l.net.values[n.in[0]].typ.DType == l.net.values[n.out[0]].typ.DType:
		y.elements[nchw] = l.want(n.in[0], nchw)
	case !q.same:
		y.codes[nchw] = l.codes(n.in[0], nchw)
	default:
		if x.codes == [2]int{none, none} {
			l.codes(n.in[0], nchw)
		}
		y.codes = x.codes
	}
}

func (codeViewOp) lower(*lowering, *node) step { panic("a view is no step") }

// newByteConversion is the change of the order of dimensions of bytes to o.
func newByteConversion(dims []int64, o order) *turnOp {
	channels, positions := int(dims[1]), product(dims[2:])
	t := turnTask{matrices: int(dims[0]), rows: channels, cols: positions}
	if o == nchw {
		t.rows, t.cols = positions, channels
	}
	return &turnOp{task: t}
}

// turnOp transposes matrices of bytes.
type turnOp struct {
	inOrder
	task turnTask
}

func (q *turnOp) lower(*lowering, *node) step {
	t := q.task
	return step{fast: true, start: func(_ *State, st *step) process {
		own := t
		own.st = st
		return &own
	}}
}

// decodeOp makes the elements of a value of its codes.
type decodeOp struct {
	inOrder
	task decodeTask
}

func newDecode(c coding, v *value) *decodeOp {
	return &decodeOp{task: decodeTask{coding: c, n: v.count(), bytes: v.typ.DType != tensor.Float32}}
}

func (q *decodeOp) lower(*lowering, *node) step {
	t := q.task
	return step{fast: true, start: func(_ *State, st *step) process {
		own := t
		own.st = st
		return &own
	}}
}

// turnTask transposes matrices of bytes.
type turnTask struct {
	st                   *step
	matrices, rows, cols int
	per                  int // rows of a chunk, or columns when there are more of them
	x, y                 []byte
}

// turnBytes is how many bytes one chunk transposes, about.
const turnBytes = 1 << 16

func (t *turnTask) run(s *State) error {
	t.x, t.y = s.mem[t.st.reads[0]], s.mem[t.st.writes[0]]
	short, long := min(t.rows, t.cols), max(t.rows, t.cols)
	t.per = max(64, turnBytes/short&^63)
	s.do(t.matrices*((long+t.per-1)/t.per), t)
	return nil
}

// Chunk transposes some rows or columns.
func (t *turnTask) Chunk(i, _ int) {
	chunks := (max(t.rows, t.cols) + t.per - 1) / t.per
	x, y := t.x[i/chunks*t.rows*t.cols:], t.y[i/chunks*t.rows*t.cols:]
	from, rows, cols := i%chunks*t.per, t.rows, t.cols
	if t.rows > t.cols {
		x, y, rows = x[from*t.cols:], y[from:], min(t.per, t.rows-from)
	} else {
		x, y, cols = x[from:], y[from*t.rows:], min(t.per, t.cols-from)
	}
	if t.rows <= 4 {
		for r := range rows {
			for c, v := range x[r*t.cols:][:cols] {
				y[c*t.rows+r] = v
			}
		}
		return
	}
	kernel.TransposeBits(y, t.rows, x, t.cols, rows, cols)
}

// decodeTask makes numbers of codes, or the codes that the graph has.
type decodeTask struct {
	st     *step
	coding coding
	n      int
	bytes  bool
	x      []byte
	y      []float32
	codes  []byte
}

func (t *decodeTask) run(s *State) error {
	t.x = s.mem[t.st.reads[0]]
	if t.bytes {
		t.codes = s.mem[t.st.writes[0]]
	} else {
		t.y = s.f32(t.st.writes[0])
	}
	s.do(blocks(t.n), t)
	return nil
}

// Chunk converts one block.
func (t *decodeTask) Chunk(i, _ int) {
	from, to := block(i, t.n)
	switch x := t.x[from:to]; {
	case !t.bytes:
		kernel.DequantizeU8(t.y[from:to], x, t.coding.scale, t.coding.zero)
	case t.coding.typ == tensor.Uint8:
		copy(t.codes[from:to], x)
	default:
		kernel.FlipSigns(t.codes[from:to], x)
	}
}

// matchDequantize gives the result of a DequantizeLinear the codes of its input.
func matchDequantize(p *program, i int) *patch {
	g, n := p.net, &p.net.graph.Nodes[i]
	if _, is := n.Op.(*op.Dequantize); !is {
		return nil
	}
	x, y := &g.values[n.In[0]], n.Out[0]
	c, ok := codingOf(g, n, x.typ.DType)
	if !ok || !g.fast(y) || x.typ.Quant != nil || x.data != nil || x.dims == nil || x.count() == 0 {
		return nil
	}
	return p.coded(i, codeViewOp{same: true}, n.In[:1], y, c)
}

// matchCodeView makes a value of another shape of the codes of its input.
func matchCodeView(p *program, i int) *patch {
	g, n := p.net, &p.net.graph.Nodes[i]
	same := false
	switch n.Op.(type) {
	case *op.Identity:
		same = true
	case *op.Reshape, *op.Flatten, *op.Squeeze, *op.Unsqueeze:
	default:
		return nil
	}
	x, y := n.In[0], n.Out[0]
	if !p.isCoded(x) || g.values[y].dims == nil || g.values[x].count() != g.values[y].count() {
		return nil
	}
	return p.coded(i, codeViewOp{same: same}, n.In[:1], y, p.codings[x])
}
