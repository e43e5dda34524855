package plan

import (
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/core/graph"
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

// prelu adds y = x for x >= 0, slope*x otherwise.
func (b *builder) prelu(n *graph.Node) bool {
	x := &b.values[n.In[0]]
	if !x.fast() || !b.values[n.Out[0]].fast() || !b.values[n.In[1]].fast() ||
		!slices.Equal(x.dims, b.values[n.Out[0]].dims) {
		return false
	}
	own, form := b.values[n.In[1]].dims, x.dims
	last := b.inLast(n.In[0])
	if last {
		if full := append(slices.Repeat([]int64{1}, len(form)-len(own)), own...); sameForms(full) {
			own, form = lastDims(full), lastDims(form)
		} else {
			last = false
		}
	}
	pat, ok := broadcast(own, form)
	if !ok {
		return false
	}
	t := preluTask{pat: pat, rows: max(1, blockLen/(pat.middle*pat.inner))}
	s := step{fast: true, inplace: true, reads: []int{b.form(n.In[0], last), b.wantPlain(n.In[1])}}
	s.writes = []int{b.make(n.Out[0], last)}
	s.start = func(_ *State, st *step) process {
		own := t
		own.st = st
		return &own
	}
	b.add(s)
	return true
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
