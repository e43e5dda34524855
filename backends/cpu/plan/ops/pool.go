package ops

import (
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// poolSpec is a pooling operator.
type poolSpec struct {
	max, countPads, last bool
	windows              func(in []int64) ([]op.Window, error)
}

// poolOf returns the pooling that a node computes, ok false when it is not one, or one with more results than the
// maxima.
func poolOf(n *graph.Node) (s poolSpec, ok bool) {
	switch o := n.Op.(type) {
	case *op.MaxPool:
		return poolSpec{max: true, last: o.ChannelsLast, windows: o.Windows}, len(n.Out) == 1
	case *op.AveragePool:
		return poolSpec{countPads: o.CountPads, last: o.ChannelsLast, windows: o.Windows}, true
	}
	return s, false
}

type poolTask struct {
	st *run.Step
	kernel.Pooling
}

// poolOp pools images in NHWC, or in NCHW where that is possible and saves conversions.
type poolOp struct {
	order  run.Order
	kernel kernel.Pooling
	planes *planes // nil: no images in NCHW
	chosen run.Order
}

func (q *poolOp) Layout(l *ir.Layouter, n *ir.Node) {
	if q.chosen = q.order; q.planes != nil {
		q.chosen = l.Order(n, n.In[0])
	}
	ir.InOrder{Order: q.chosen}.Layout(l, n)
}

func matchPool(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	s, ok := poolOf(n)
	if !ok || !g.IsFloat32(n.In[0], n.Out[0]) || len(g.Values[n.In[0]].Dims) > 5 {
		return nil
	}
	if o, is := n.Op.(*op.AveragePool); is && o.Global {
		s.countPads = false
	}
	x := &g.Values[n.In[0]]
	rank := len(x.Dims)
	spatial, channels := x.Dims[2:], x.Dims[1]
	if s.last {
		spatial, channels = x.Dims[1:rank-1], x.Dims[rank-1]
	}
	ws, err := s.windows(spatial)
	if err != nil {
		return nil
	}
	if !s.last && wholePlanes(ws) {
		mask := make([]bool, rank)
		for d := 2; d < rank; d++ {
			mask[d] = true
		}
		k := kernel.ReduceSum
		if s.max {
			k = kernel.ReduceMax
		}
		if q, ok := newReduce(k, !s.max, mask, x.Dims); ok {
			return p.Plainly(i, q, 1)
		}
	}
	from := n.In[0]
	if q := padAround(p, from, s.last); q != nil && s.max {
		padded := slices.Clone(ws)
		if q.shift(padded, s.last); neverLargest(g, q, padded) {
			from, ws = q.x, padded
		}
	} else if q := zerosAround(p, from, s.last); q != nil {
		own := slices.ContainsFunc(ws, func(w op.Window) bool { return w.Before != 0 || w.After != 0 })
		if !own || s.countPads {
			q.shift(ws, s.last)
			from, s.countPads = q.x, true
		}
	}
	k := kernel.Pooling{C: int(channels), Batch: int(x.Dims[0]), Max: s.max, IncludePad: s.countPads}
	if k.Win, err = window(ws); err != nil {
		return nil
	}
	for i, w := range ws {
		k.PadAfter[3-len(ws)+i] = int(w.After)
	}
	q := &poolOp{order: run.OrderOf(s.last), kernel: k}
	if !s.last {
		q.planes = planesOf(&k)
	}
	return ir.One(i, q, []graph.Value{from}, n.Out)
}

// wholePlanes reports whether a window is a whole image.
func wholePlanes(ws []op.Window) bool {
	return !slices.ContainsFunc(ws, func(w op.Window) bool {
		return w.Kernel != w.In || w.Dilation != 1 && w.Kernel > 1 || w.Out != 1 || w.Before != 0 || w.After != 0
	})
}

func (q *poolOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	if q.planes != nil && q.chosen == run.NCHW {
		p := q.planes
		return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process { return p.start(st) }}
	}
	k := q.kernel
	return run.Step{Fast: true, InCols: []int{k.C}, OutCols: []int{k.C},
		Start: func(_ *run.State, st *run.Step) run.Process { return &poolTask{st, k} }}
}

func (t *poolTask) Run(s *run.State) error {
	t.In, t.LDI = s.Rows(t.st.Reads[0], t.C)
	t.Out, t.LDO = s.Rows(t.st.Writes[0], t.C)
	chunks := t.Plan(s.Threads)
	var err error
	if t.Work, err = s.Borrow(t.WorkLen()); err != nil {
		return err
	}
	s.Do(chunks, t)
	return nil
}

// Chunk computes some rows.
func (t *poolTask) Chunk(i, _ int) { t.Pooling.Chunk(i) }
