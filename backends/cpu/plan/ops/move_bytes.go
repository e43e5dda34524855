package ops

import (
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
)

// bytesOp puts values one after another along an axis, or cuts one, where rows are no whole number of float32.
type bytesOp struct {
	ir.InOrder
	split     bool
	rows, per int
	parts     []int // bytes of a row of each part
	whole     int
}

// newBytesOp is for parts of a value along an axis.
func newBytesOp(g *ir.Network, parts []graph.Value, whole graph.Value, axis int) *bytesOp {
	size := g.Values[whole].Type.DType.Bits() / 8
	q := &bytesOp{rows: run.Product(g.Values[whole].Dims[:axis])}
	for _, v := range parts {
		n := run.Product(g.Values[v].Dims[axis:]) * size
		q.parts = append(q.parts, n)
		q.whole += n
	}
	q.per = max(1, 4*run.BlockLen/max(1, q.whole))
	return q
}

func (q *bytesOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process {
		return &bytesTask{bytesOp: q, st: st}
	}}
}

type bytesTask struct {
	*bytesOp
	st *run.Step
	s  *run.State
}

func (t *bytesTask) Run(s *run.State) error {
	t.s = s
	s.Do((t.rows+t.per-1)/t.per, t)
	return nil
}

// Chunk moves some rows.
func (t *bytesTask) Chunk(i, _ int) {
	from := i * t.per
	rows, at := min(t.rows-from, t.per), from*t.whole
	for k, n := range t.parts {
		switch {
		case n == 0:
		case t.split:
			kernel.CopyRows(t.s.Mem[t.st.Writes[k]][from*n:], n, t.s.Mem[t.st.Reads[0]][at:], t.whole, rows, n)
		default:
			kernel.CopyRows(t.s.Mem[t.st.Writes[0]][at:], t.whole, t.s.Mem[t.st.Reads[k]][from*n:], n, rows, n)
		}
		at += n
	}
}
