package plan

import (
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// poolSpec is a pooling operator.
type poolSpec struct {
	max, countPads, last bool
	windows              func(in []int64) ([]op.Window, error)
}

type poolTask struct {
	st *step
	kernel.Pooling
}

func (b *builder) pool(n *graph.Node, p poolSpec) bool {
	x := &b.values[n.In[0]]
	if !x.fast() || !b.values[n.Out[0]].fast() || len(x.dims) > 4 {
		return false
	}
	rank := len(x.dims)
	spatial, channels := x.dims[2:], x.dims[1]
	if p.last {
		spatial, channels = x.dims[1:rank-1], x.dims[rank-1]
	}
	ws, err := p.windows(spatial)
	if err != nil {
		return false
	}
	from := n.In[0]
	if q := b.around(from, p.last); q != nil && p.max {
		padded := slices.Clone(ws)
		if q.shift(padded, p.last); b.neverLargest(q, padded) {
			from, ws = q.x, padded
		}
	} else if q := b.unpadded(from, p.last); q != nil {
		own := slices.ContainsFunc(ws, func(w op.Window) bool { return w.Before != 0 || w.After != 0 })
		if !own || p.countPads {
			q.shift(ws, p.last)
			from, p.countPads = q.x, true
		}
	}
	k := kernel.Pooling{C: int(channels), Batch: int(x.dims[0]), Max: p.max, IncludePad: p.countPads}
	if k.Win, err = window(ws); err != nil {
		return false
	}
	for i, w := range ws {
		k.PadAfter[3-len(ws)+i] = int(w.After)
	}
	s := step{fast: true, inCols: []int{k.C}, outCols: []int{k.C}}
	if p.last {
		s.reads = []int{b.wantPlain(from)}
	} else {
		s.reads = []int{b.wantLast(from)}
	}
	s.writes = []int{b.make(n.Out[0], !p.last)}
	s.start = func(_ *State, st *step) process { return &poolTask{st, k} }
	b.add(s)
	return true
}

func (t *poolTask) run(s *State) error {
	t.In, t.LDI = s.rows(t.st.reads[0], t.C)
	t.Out, t.LDO = s.rows(t.st.writes[0], t.C)
	chunks := t.Plan(s.threads)
	var err error
	if t.Work, err = s.borrow(t.WorkLen()); err != nil {
		return err
	}
	s.do(chunks, t)
	return nil
}

// Chunk computes some rows.
func (t *poolTask) Chunk(i, _ int) { t.Pooling.Chunk(i) }
