package ops

import (
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// A value that is quantized and dequantized with constant scales stays float32 here: the two nodes are one step that
// rounds it to the codes' values. The codes themselves are never stored.

// matchRoundTrip finds a quantized value that is only dequantized again, everywhere with the same scale.
func matchRoundTrip(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	if _, is := n.Op.(*op.Quantize); !is || ir.Blockwise(n) || !g.IsFloat32(n.In[0]) {
		return nil
	}
	q := n.Out[0]
	uses := g.Uses[q]
	c, ok := ir.ScaleZeroOfNode(g, n, g.Values[q].Type.DType)
	if !ok || len(uses) == 0 || slices.Contains(g.Graph.Out, q) {
		return nil
	}
	var back ir.ScaleZero
	var out []graph.Value
	for k, u := range uses {
		d := &g.Graph.Nodes[u]
		if _, is := d.Op.(*op.Dequantize); !is || d.In[0] != q || !g.IsFloat32(d.Out[0]) {
			return nil
		}
		other, ok := ir.ScaleZeroOfNode(g, d, c.Typ)
		if !ok || other.Zero != c.Zero || k > 0 && other != back {
			return nil
		}
		back = other
		out = append(out, d.Out[0])
	}
	lo, hi := tensor.IntLimits(c.Typ)
	return ir.One(i, &roundTripOp{roundTripTask{scale: c.Scale, lo: float32(lo) - c.Zero, hi: float32(hi) - c.Zero,
		back: back.Scale}}, n.In[:1], out, uses...)
}

// roundTripOp rounds values to those that codes stand for. All its results are the same.
type roundTripOp struct{ task roundTripTask }

func (q *roundTripOp) Layout(l *ir.Layouter, n *ir.Node) {
	o := l.Order(n, n.In[0])
	l.Read(n, n.In[0], o)
	l.Write(n, n.Out[0], o)
	for _, v := range n.Out[1:] {
		l.Forms[v].Elements = l.Forms[n.Out[0]].Elements
	}
}

func (q *roundTripOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	t := q.task
	return run.Step{Fast: true, Inplace: true, Start: func(_ *run.State, st *run.Step) run.Process {
		own := t
		own.st = st
		return &own
	}}
}

type roundTripTask struct {
	st                  *run.Step
	scale, lo, hi, back float32
	x, y                []float32
}

func (t *roundTripTask) Run(s *run.State) error {
	t.x, t.y = s.F32(t.st.Reads[0]), s.F32(t.st.Writes[0])
	s.Do(run.Blocks(len(t.x)), t)
	return nil
}

// Chunk computes one block.
func (t *roundTripTask) Chunk(i, _ int) {
	from, to := run.Block(i, len(t.x))
	kernel.RoundTrip(t.y[from:to], t.x[from:to], t.scale, t.lo, t.hi, t.back)
}
