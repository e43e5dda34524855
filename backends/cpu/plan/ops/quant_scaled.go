package ops

import (
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// scaledOp makes numbers of 8-bit codes whose scale and zero point the run finds.
type scaledOp struct {
	ir.InOrder
	n      int
	signed bool
	zero   bool // there is a zero point
}

func matchDequantizeScaled(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.Dequantize)
	if !is || o.Block != 0 || !plainElements(g, n.In[0]) || !g.IsFloat32(n.In[1], n.Out[0]) ||
		g.Values[n.In[1]].Count() != 1 {
		return nil
	}
	x := &g.Values[n.In[0]]
	d := x.Type.DType
	q := &scaledOp{n: x.Count(), signed: d == tensor.Int8, zero: ir.Given(n.In, 2)}
	if d != tensor.Int8 && d != tensor.Uint8 {
		return nil
	}
	if q.zero && (!plainElements(g, n.In[2]) || g.Values[n.In[2]].Count() != 1 || g.Values[n.In[2]].Type.DType != d) {
		return nil
	}
	return p.Plainly(i, q, len(n.In))
}

func (q *scaledOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process {
		return &scaledTask{scaledOp: q, st: st}
	}}
}

type scaledTask struct {
	*scaledOp
	st    *run.Step
	x     []byte
	y     []float32
	scale float32
	from  int32
}

func (t *scaledTask) Run(s *run.State) error {
	t.x, t.y, t.scale, t.from = s.Mem[t.st.Reads[0]], s.F32(t.st.Writes[0]), s.F32(t.st.Reads[1])[0], 0
	if t.zero {
		b := s.Mem[t.st.Reads[2]][0]
		if t.from = int32(b); t.signed {
			t.from = int32(int8(b))
		}
	}
	s.Do(run.Blocks(t.n), t)
	return nil
}

// Chunk makes one block.
func (t *scaledTask) Chunk(i, _ int) {
	from, to := run.Block(i, t.n)
	if x := t.x[from:to]; t.signed {
		kernel.DequantizeS8(t.y[from:to], mem.Elements[int8](x), t.scale, t.from)
	} else {
		kernel.DequantizeU8(t.y[from:to], x, t.scale, t.from)
	}
}
