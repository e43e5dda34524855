package ops

import (
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/mem"
)

// rowsOfHalves computes rows of halves, each by itself, as float32 that stay in the first-level cache.
type rowsOfHalves struct {
	ir.InOrder
	of         kernel.HalfType
	rows, cols int
	lines      func(y, x []float32, rows, cols int) // y is x
}

// rowsOfHalvesLen is how many numbers are widened at once, where rows are no longer.
const rowsOfHalvesLen = 4 << 10

func (q *rowsOfHalves) Lower(*ir.Lowering, *ir.Node) run.Step {
	return run.Step{Fast: true, Inplace: true, Start: func(_ *run.State, st *run.Step) run.Process {
		return &rowsOfHalvesTask{rowsOfHalves: q, st: st, per: max(1, rowsOfHalvesLen/q.cols)}
	}}
}

type rowsOfHalvesTask struct {
	*rowsOfHalves
	st   *run.Step
	per  int // rows of a chunk
	x, y []uint16
	work []float32
}

func (t *rowsOfHalvesTask) Run(s *run.State) error {
	t.x, t.y = mem.Elements[uint16](s.Mem[t.st.Reads[0]]), mem.Elements[uint16](s.Mem[t.st.Writes[0]])
	var err error
	if t.work, err = s.Borrow(max(1, s.Threads) * t.per * t.cols); err != nil {
		return err
	}
	s.Do((t.rows+t.per-1)/t.per, t)
	return nil
}

// Chunk computes some rows.
func (t *rowsOfHalvesTask) Chunk(i, worker int) {
	from, to := i*t.per*t.cols, min(t.rows, (i+1)*t.per)*t.cols
	x := t.work[worker*t.per*t.cols:][:to-from]
	t.of.Widen(x, t.x[from:to])
	t.lines(x, x, (to-from)/t.cols, t.cols)
	t.of.Narrow(t.y[from:to], x)
}
