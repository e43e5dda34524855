package ops

import (
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// unpoolOp puts elements where indices say; the others are zeros.
type unpoolOp struct {
	ir.InOrder
	size int
}

// matchUnpool finds MaxUnpool whose result has the shape that the indices are of.
func matchUnpool(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.MaxUnpool)
	if !is || !plainElements(g, n.In[0], n.In[1], n.Out[0]) || g.Values[n.In[1]].Type.DType != tensor.Int64 {
		return nil
	}
	x, y := &g.Values[n.In[0]], &g.Values[n.Out[0]]
	if from, err := o.From(x.Dims); err != nil || !slices.Equal(from, y.Dims) || x.Type.DType != y.Type.DType {
		return nil
	}
	return p.Plainly(i, &unpoolOp{size: x.Type.DType.Bits() / 8}, 2)
}

func (q *unpoolOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	size := q.size
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process {
		return &unpoolTask{st: st, size: size}
	}}
}

type unpoolTask struct {
	st   *run.Step
	size int
}

func (t *unpoolTask) Run(s *run.State) error {
	x, index, y := s.Mem[t.st.Reads[0]], mem.Elements[int64](s.Mem[t.st.Reads[1]]), s.Mem[t.st.Writes[0]]
	clear(y)
	switch t.size {
	case 1:
		return put[uint8](y, x, index)
	case 2:
		return put[uint16](y, x, index)
	case 4:
		return put[uint32](y, x, index)
	}
	return put[uint64](y, x, index)
}

// put writes elements to their places in their order.
func put[T uint8 | uint16 | uint32 | uint64](y, x []byte, index []int64) error {
	u, v := mem.Elements[T](y), mem.Elements[T](x)
	for i, k := range index {
		if uint64(k) >= uint64(len(u)) {
			return fault.New(fault.Data, "input 1: index %d is outside %d elements", k, len(u))
		}
		u[k] = v[i]
	}
	return nil
}
