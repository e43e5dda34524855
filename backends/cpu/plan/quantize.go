package plan

import (
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// A value that is quantized and dequantized with constant scales stays float32 here: the two nodes are one step that
// rounds it to the codes' values. The codes themselves are never stored.

// code is a constant scale with its zero point, for the whole tensor.
type code struct {
	scale, zero float32
	typ         tensor.DType
}

// code returns the scale and zero point of a node; ok is false when they are not one constant pair for integers of up
// to 16 bits.
func (b *builder) code(n *graph.Node, typ tensor.DType) (c code, ok bool) {
	s := b.constant(n.In[1])
	if len(s) != 1 || len(b.values[n.In[1]].dims) > 1 || !typ.IsInt() || typ.Bits() > 16 {
		return c, false
	}
	c = code{scale: s[0], typ: typ}
	if given(n.In, 2) {
		z, known := b.ints(n.In, 2)
		if !known || len(z) != 1 {
			return c, false
		}
		c.zero = float32(z[0])
	}
	return c, true
}

// quantize adds the round trip of a quantized value that is only dequantized again, everywhere with the same scale.
func (b *builder) quantize(n *graph.Node) bool {
	x, q := &b.values[n.In[0]], n.Out[0]
	uses := b.uses[q]
	c, ok := b.code(n, b.values[q].typ.DType)
	if !ok || !x.fast() || len(uses) == 0 || slices.Contains(b.graph.Out, q) {
		return false
	}
	var back code
	for i, u := range uses {
		d := &b.graph.Nodes[u]
		if _, is := d.Op.(*op.Dequantize); !is || d.In[0] != q || !b.values[d.Out[0]].fast() {
			return false
		}
		other, ok := b.code(d, c.typ)
		if !ok || other.zero != c.zero || i > 0 && other != back {
			return false
		}
		back = other
	}
	lo, hi := tensor.IntLimits(c.typ)
	last := b.inLast(n.In[0])
	s := step{fast: true, inplace: true, reads: []int{b.form(n.In[0], last)}}
	y := b.graph.Nodes[uses[0]].Out[0]
	s.writes = []int{b.make(y, last)}
	t := roundTripTask{scale: c.scale, lo: float32(lo) - c.zero, hi: float32(hi) - c.zero, back: back.scale}
	s.start = func(_ *State, st *step) process {
		own := t
		own.st = st
		return &own
	}
	b.add(s)
	for _, u := range uses {
		v := &b.values[b.graph.Nodes[u].Out[0]]
		v.plain, v.last = b.values[y].plain, b.values[y].last
		b.fuse(u)
	}
	return true
}

type roundTripTask struct {
	st                  *step
	scale, lo, hi, back float32
	x, y                []float32
}

func (t *roundTripTask) run(s *State) error {
	t.x, t.y = s.f32(t.st.reads[0]), s.f32(t.st.writes[0])
	s.do(blocks(len(t.x)), t)
	return nil
}

// Chunk computes one block.
func (t *roundTripTask) Chunk(i, _ int) {
	from, to := block(i, len(t.x))
	kernel.RoundTrip(t.y[from:to], t.x[from:to], t.scale, t.lo, t.hi, t.back)
}
