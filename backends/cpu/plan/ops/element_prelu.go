package ops

import (
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/op"
)

// preluTask multiplies negative elements by slopes that repeat by a pattern.
type preluTask struct {
	st      *run.Step
	pat     pattern
	rows    int  // of a chunk: runs over which the slopes advance once
	finite  bool // the slopes
	x, s, y []float32
	work    []float32
}

// preluOp is x for x >= 0, slope*x otherwise.
type preluOp struct {
	slopes, dims []int64
	task         preluTask
}

func matchPRelu(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	if _, is := n.Op.(*op.PRelu); !is || !g.IsFloat32(n.In[0], n.In[1], n.Out[0]) {
		return nil
	}
	x, slopes := &g.Values[n.In[0]], &g.Values[n.In[1]]
	if _, ok := broadcast(slopes.Dims, x.Dims); !ok || !slices.Equal(x.Dims, g.Values[n.Out[0]].Dims) {
		return nil
	}
	return p.Plainly(i, &preluOp{slopes: slopes.Dims, dims: x.Dims}, 2)
}

// Layout takes any order in which the slopes repeat by a pattern.
func (q *preluOp) Layout(l *ir.Layouter, n *ir.Node) {
	o := l.Order(n, n.In[0])
	pat, ok := broadcastIn(q.slopes, q.dims, o)
	if !ok {
		o = run.NCHW
		pat, _ = broadcast(q.slopes, q.dims)
	}
	q.task = preluTask{pat: pat, rows: max(1, run.BlockLen/(pat.middle*pat.inner))}
	l.Read(n, n.In[0], o)
	l.Read(n, n.In[1], run.NCHW)
	l.Write(n, n.Out[0], o)
}

func (q *preluOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	t := q.task
	return run.Step{Fast: true, Inplace: true, Start: func(_ *run.State, st *run.Step) run.Process {
		own := t
		own.st = st
		return &own
	}}
}

func (t *preluTask) Run(s *run.State) error {
	t.x, t.s, t.y = s.F32(t.st.Reads[0]), s.F32(t.st.Reads[1]), s.F32(t.st.Writes[0])
	t.finite = allFinite(t.s)
	if t.pat.inner == 1 && t.pat.middle > 1 {
		var err error
		if t.work, err = s.Borrow(max(1, s.Threads) * t.pat.middle); err != nil {
			return err
		}
	}
	s.Do((t.pat.outer*t.pat.repeat+t.rows-1)/t.rows, t)
	return nil
}

// Chunk computes some runs.
func (t *preluTask) Chunk(i, worker int) {
	p := &t.pat
	run := p.middle * p.inner
	end := min(p.outer*p.repeat, (i+1)*t.rows)
	if run == 1 { // neighbours share a slope
		for r := i * t.rows; r < end; {
			n := min(end, (r/p.repeat+1)*p.repeat) - r
			kernel.Unary(kernel.LeakyRelu, t.y[r:][:n], t.x[r:][:n], t.s[r/p.repeat], 0)
			r += n
		}
		return
	}
	for r := i * t.rows; r < end; r++ {
		x, y, slopes := t.x[r*run:][:run], t.y[r*run:][:run], t.s[r/p.repeat*p.middle:][:p.middle]
		if p.inner > 1 || p.middle == 1 {
			for k, slope := range slopes {
				kernel.Unary(kernel.LeakyRelu, y[k*p.inner:][:p.inner], x[k*p.inner:][:p.inner], slope, 0)
			}
			continue
		}
		if !t.finite { // a zero times an infinite slope would not be zero
			for k, v := range x {
				if y[k] = v; v < 0 {
					y[k] = slopes[k] * v
				}
			}
			continue
		}
		negative := t.work[worker*p.middle:][:p.middle] // max(x, 0) + slope*min(x, 0): one of the terms is 0
		kernel.BinaryVS(kernel.Min, negative, x, 0)
		kernel.BinaryVV(kernel.Mul, negative, negative, slopes)
		kernel.BinaryVS(kernel.Max, y, x, 0)
		kernel.BinaryVV(kernel.Add, y, y, negative)
	}
}
