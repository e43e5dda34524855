package plan

import (
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/core/op"
)

// preluTask multiplies negative elements by slopes that repeat by a pattern.
type preluTask struct {
	st      *step
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

func matchPRelu(p *program, i int) *patch {
	g, n := p.net, &p.net.graph.Nodes[i]
	if _, is := n.Op.(*op.PRelu); !is || !g.isFloat32(n.In[0], n.In[1], n.Out[0]) {
		return nil
	}
	x, slopes := &g.values[n.In[0]], &g.values[n.In[1]]
	if _, ok := broadcast(slopes.dims, x.dims); !ok || !slices.Equal(x.dims, g.values[n.Out[0]].dims) {
		return nil
	}
	return p.plainly(i, &preluOp{slopes: slopes.dims, dims: x.dims}, 2)
}

// layout takes any order in which the slopes repeat by a pattern.
func (q *preluOp) layout(l *layouter, n *node) {
	o := l.order(n, n.in[0])
	pat, ok := broadcastIn(q.slopes, q.dims, o)
	if !ok {
		o = nchw
		pat, _ = broadcast(q.slopes, q.dims)
	}
	q.task = preluTask{pat: pat, rows: max(1, blockLen/(pat.middle*pat.inner))}
	l.read(n, n.in[0], o)
	l.read(n, n.in[1], nchw)
	l.write(n, n.out[0], o)
}

func (q *preluOp) lower(*lowering, *node) step {
	t := q.task
	return step{fast: true, inplace: true, start: func(_ *State, st *step) process {
		own := t
		own.st = st
		return &own
	}}
}

func (t *preluTask) run(s *State) error {
	t.x, t.s, t.y = s.f32(t.st.reads[0]), s.f32(t.st.reads[1]), s.f32(t.st.writes[0])
	t.finite = allFinite(t.s)
	if t.pat.inner == 1 && t.pat.middle > 1 {
		var err error
		if t.work, err = s.borrow(max(1, s.threads) * t.pat.middle); err != nil {
			return err
		}
	}
	s.do((t.pat.outer*t.pat.repeat+t.rows-1)/t.rows, t)
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
