package ops

import (
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// diagonalOp makes a matrix of zeros with ones on a diagonal; nothing of its operand but the sizes counts.
type diagonalOp struct {
	ir.InOrder
	cols  int64
	first int64 // place of the diagonal in the first row
	of    tensor.DType
}

func matchEyeLike(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.EyeLike)
	if !is || !plainElements(g, n.Out[0]) {
		return nil
	}
	y := &g.Values[n.Out[0]]
	return ir.One(i, &diagonalOp{cols: y.Dims[1], first: min(max(o.K, -y.Dims[0]), y.Dims[1]),
		of: y.Type.DType}, nil, slices.Clone(n.Out))
}

func (q *diagonalOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process {
		return &diagonalTask{diagonalOp: q, st: st}
	}}
}

type diagonalTask struct {
	*diagonalOp
	st *run.Step
}

func (t *diagonalTask) Run(s *run.State) error {
	y := s.Mem[t.st.Writes[0]]
	clear(y)
	rows := int64(len(y)*8/t.of.Bits()) / t.cols
	for r := max(0, -t.first); r < rows && r+t.first < t.cols; r++ {
		if at := int(r*t.cols + r + t.first); t.of.IsFloat() {
			tensor.PutFloat(t.of, y, at, 1, true)
		} else {
			tensor.PutInt(t.of, y, at, 1)
		}
	}
	return nil
}
