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

// matchRoundTrip finds a quantized value that is only dequantized again, everywhere with the same scale.
func matchRoundTrip(p *program, i int) *patch {
	g, n := p.net, &p.net.graph.Nodes[i]
	if _, is := n.Op.(*op.Quantize); !is || blockwise(n) || !g.isFloat32(n.In[0]) {
		return nil
	}
	q := n.Out[0]
	uses := g.uses[q]
	c, ok := scaleZeroOfNode(g, n, g.values[q].typ.DType)
	if !ok || len(uses) == 0 || slices.Contains(g.graph.Out, q) {
		return nil
	}
	var back scaleZero
	var out []graph.Value
	for k, u := range uses {
		d := &g.graph.Nodes[u]
		if _, is := d.Op.(*op.Dequantize); !is || d.In[0] != q || !g.isFloat32(d.Out[0]) {
			return nil
		}
		other, ok := scaleZeroOfNode(g, d, c.typ)
		if !ok || other.zero != c.zero || k > 0 && other != back {
			return nil
		}
		back = other
		out = append(out, d.Out[0])
	}
	lo, hi := tensor.IntLimits(c.typ)
	return one(i, &roundTripOp{roundTripTask{scale: c.scale, lo: float32(lo) - c.zero, hi: float32(hi) - c.zero,
		back: back.scale}}, n.In[:1], out, uses...)
}

// roundTripOp rounds values to those that codes stand for. All its results are the same.
type roundTripOp struct{ task roundTripTask }

func (q *roundTripOp) layout(l *layouter, n *node) {
	o := l.order(n, n.in[0])
	l.read(n, n.in[0], o)
	l.write(n, n.out[0], o)
	for _, v := range n.out[1:] {
		l.forms[v].elements = l.forms[n.out[0]].elements
	}
}

func (q *roundTripOp) lower(*lowering, *node) step {
	t := q.task
	return step{fast: true, inplace: true, start: func(_ *State, st *step) process {
		own := t
		own.st = st
		return &own
	}}
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
