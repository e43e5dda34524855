package ops

import (
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/op"
)

// neighboursOp divides by a power of the sum of the squares of neighbouring channels.
type neighboursOp struct {
	ir.InOrder
	axisLines
	before, after     int
	alpha, beta, bias float32
}

const (
	neighboursBlock = 1024    // neighbouring lines that are computed together at most
	neighboursWork  = 1 << 24 // additions of a chunk
)

func matchLRN(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.LRN)
	if !is || !g.IsFloat32(n.In[0], n.Out[0]) || g.Values[n.In[0]].Count() == 0 {
		return nil
	}
	lines, ok := alongAxis(g.Values[n.In[0]].Dims, o.Axis)
	if !ok {
		return nil
	}
	q := &neighboursOp{axisLines: lines, before: int(min(o.Before, int64(lines.count))),
		after: int(min(o.After, int64(lines.count))), alpha: o.Alpha, beta: o.Beta, bias: o.Bias}
	if o.DivideAlpha {
		q.alpha = float32(float64(o.Alpha) / float64(o.Before+o.After+1))
	}
	if !g.Budget.Allows(run.Saturated(4, q.room())) {
		return nil
	}
	return p.Plainly(i, q, 1)
}

// room counts the values of scratch memory that a thread needs: squares, their sums, and a power.
func (q *neighboursOp) room() int {
	if q.inner == 1 {
		return 3*q.count + q.before + q.after
	}
	return (q.count + 2) * q.block()
}

// block is the number of lines that a chunk computes.
func (q *neighboursOp) block() int {
	return min(q.inner, max(16, min(neighboursBlock, neighboursWork/(q.count*(1+q.before+q.after)))))
}

// blocks is the number of chunks of neighbouring lines.
func (q *neighboursOp) blocks() int { return (q.inner + q.block() - 1) / q.block() }

func (q *neighboursOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process {
		return &neighboursTask{neighboursOp: q, st: st}
	}}
}

type neighboursTask struct {
	*neighboursOp
	st         *run.Step
	x, y, work []float32
}

func (t *neighboursTask) Run(s *run.State) error {
	t.x, t.y = s.F32(t.st.Reads[0]), s.F32(t.st.Writes[0])
	var err error
	if t.work, err = s.Borrow(max(1, s.Threads) * t.room()); err != nil {
		return err
	}
	s.Do(t.outer*t.blocks(), t)
	return nil
}

// Chunk computes some neighbouring lines.
func (t *neighboursTask) Chunk(i, worker int) {
	work := t.work[worker*t.room():][:t.room()]
	block, blocks := t.block(), t.blocks()
	first := i/blocks*t.count*t.inner + i%blocks*block
	if t.inner == 1 {
		t.line(work, t.y[first:][:t.count], t.x[first:][:t.count])
		return
	}
	n := min(block, t.inner-i%blocks*block)
	sum, power, squares := work[:n], work[n:2*n], work[2*n:]
	for c := range t.count {
		x := t.x[first+c*t.inner:][:n]
		kernel.BinaryVV(kernel.Mul, squares[c*n:][:n], x, x)
	}
	for c := range t.count {
		from, to := max(0, c-t.before), min(t.count-1, c+t.after)
		before := squares[from*n:][:n] // the sum up to k
		for k := from + 1; k <= to; k++ {
			kernel.BinaryVV(kernel.Add, sum, before, squares[k*n:][:n])
			before = sum
		}
		at := first + c*t.inner
		t.divide(t.y[at:][:n], t.x[at:][:n], before, sum, power)
	}
}

// line computes one line of neighbouring channels.
func (t *neighboursTask) line(work, y, x []float32) {
	n := t.count
	sum, power, squares := work[:n], work[n:2*n], work[2*n:]
	clear(squares)
	kernel.BinaryVV(kernel.Mul, squares[t.before:][:n], x, x)
	copy(sum, squares)
	for k := 1; k <= t.before+t.after; k++ {
		kernel.BinaryVV(kernel.Add, sum, sum, squares[k:][:n])
	}
	t.divide(y, x, sum, sum, power)
}

// divide is x / (bias + alpha*squares)^beta. It writes sum, which may be squares, and power.
func (t *neighboursTask) divide(y, x, squares, sum, power []float32) {
	kernel.Affine(sum, squares, 0, t.alpha, t.bias)
	switch t.beta {
	case 0.75:
		kernel.Unary(kernel.Sqrt, sum, sum, 0, 0)
		kernel.Unary(kernel.Sqrt, power, sum, 0, 0)
		kernel.BinaryVV(kernel.Mul, power, power, sum)
	case 0.5:
		kernel.Unary(kernel.Sqrt, power, sum, 0, 0)
	case 1:
		copy(power, sum)
	default:
		kernel.BinaryVS(kernel.Pow, power, sum, t.beta)
	}
	kernel.BinaryVV(kernel.Div, y, x, power)
}
