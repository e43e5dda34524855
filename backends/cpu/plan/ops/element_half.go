package ops

import (
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/convert"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// roundHalfOp rounds float32 numbers to those of a 16-bit type.
type roundHalfOp struct {
	ir.AsFirst
	to tensor.DType
}

// matchRoundHalf finds a conversion to halves of which nothing but the conversion back is read.
func matchRoundHalf(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.Cast)
	if !is || !o.To.IsFloat() || o.To.Bits() != 16 || !g.IsFloat32(n.In[0]) {
		return nil
	}
	k := g.OnlyUse(n.Out[0])
	if p.Taken(k) {
		return nil
	}
	back := &g.Graph.Nodes[k]
	if b, is := back.Op.(*op.Cast); !is || b.To != tensor.Float32 || !g.IsFloat32(back.Out[0]) {
		return nil
	}
	return ir.One(i, &roundHalfOp{to: o.To}, n.In, back.Out, k)
}

func (q *roundHalfOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	to := q.to
	return run.Step{Fast: true, Inplace: true, Start: func(_ *run.State, st *run.Step) run.Process {
		return &roundHalfTask{st: st, to: to}
	}}
}

type roundHalfTask struct {
	st   *run.Step
	to   tensor.DType
	x, y []float32
}

func (t *roundHalfTask) Run(s *run.State) error {
	t.x, t.y = s.F32(t.st.Reads[0]), s.F32(t.st.Writes[0])
	s.Do(run.Blocks(len(t.x)), t)
	return nil
}

// Chunk rounds one block.
func (t *roundHalfTask) Chunk(i, _ int) {
	var halves [convert.Line]uint16
	from, to := run.Block(i, len(t.x))
	for ; from < to; from += len(halves) {
		k := min(len(halves), to-from)
		h := mem.Bytes(halves[:k])
		convert.Put(h, t.to, t.x[from:from+k], false)
		convert.Floats(t.y[from:from+k], t.to, h)
	}
}
