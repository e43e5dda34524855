package ops

import (
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// reduction returns the kernel of a reducing operator and whether the sum is divided by the count.
func reduction(o graph.Op) (k kernel.ReduceOp, mean, emptyKeeps, ok bool) {
	switch o := o.(type) {
	case *op.ReduceSum:
		return kernel.ReduceSum, false, o.EmptyAxesKeep, true
	case *op.ReduceMean:
		return kernel.ReduceSum, true, o.EmptyAxesKeep, true
	case *op.ReduceMax:
		return kernel.ReduceMax, false, o.EmptyAxesKeep, true
	case *op.ReduceMin:
		return kernel.ReduceMin, false, o.EmptyAxesKeep, true
	}
	return 0, false, false, false
}

type reduceTask struct {
	st                  *run.Step
	op                  kernel.ReduceOp
	mean                bool
	outer, count, inner int
	per                 int // of outer, in a chunk
	x, y, work          []float32
}

// reduceOp reduces neighbouring axes.
type reduceOp struct {
	task     reduceTask
	mask     []bool
	dims     []int64
	possible [2]bool // by order: the axes are neighbours, and the results in the order of the model
}

// matchReduce finds a reduction over neighbouring axes.
func matchReduce(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	k, mean, emptyKeeps, ok := reduction(n.Op)
	if !ok || !g.IsFloat32(n.In[0], n.Out[0]) {
		return nil
	}
	mask, ok := maskOf(g, n, emptyKeeps)
	if !ok {
		return nil
	}
	if q, ok := newReduce(k, mean, mask, g.Values[n.In[0]].Dims); ok {
		return p.Plainly(i, q, 1)
	}
	return nil
}

// maskOf says which axes a reduction reduces, ok false when they are not known or nothing is reduced.
func maskOf(g *ir.Network, n *graph.Node, emptyKeeps bool) (mask []bool, ok bool) {
	axes, known := g.Ints(n.In, 1)
	if !known || len(axes) == 0 && emptyKeeps {
		return nil, false
	}
	mask, err := op.AxisMask(axes, len(g.Values[n.In[0]].Dims))
	for d := range mask {
		mask[d] = mask[d] || len(axes) == 0
	}
	return mask, err == nil
}

// newReduce reduces the masked axes of a value; ok is false when they are neighbours in no order.
func newReduce(k kernel.ReduceOp, mean bool, mask []bool, dims []int64) (q *reduceOp, ok bool) {
	q = &reduceOp{task: reduceTask{op: k, mean: mean}, mask: mask, dims: dims}
	for o := range q.possible {
		_, q.possible[o] = q.in(run.Order(o))
	}
	q.possible[run.NHWC] = q.possible[run.NHWC] && len(dims) > 2 && keepsOrder(mask, dims)
	return q, q.possible[run.NCHW] || q.possible[run.NHWC]
}

// in returns the task for an operand in an order of dimensions; ok is false when the axes are no neighbours there.
func (q *reduceOp) in(o run.Order) (t reduceTask, ok bool) {
	t = q.task
	t.outer, t.count, t.inner = 1, 1, 1
	parts := []*int{&t.outer, &t.count, &t.inner}
	at, mask := 0, run.SizesIn(q.mask, o)
	for d, size := range run.SizesIn(q.dims, o) {
		if size == 1 {
			continue
		}
		if (at == 1) != mask[d] {
			at++
		}
		if at >= len(parts) {
			return t, false
		}
		*parts[at] *= int(size)
	}
	t.per = max(1, run.BlockLen/(t.count*t.inner))
	return t, true
}

func (q *reduceOp) Layout(l *ir.Layouter, n *ir.Node) {
	o := l.Order(n, n.In[0])
	if !q.possible[o] {
		o = 1 - o
	}
	q.task, _ = q.in(o)
	l.Read(n, n.In[0], o)
	l.Write(n, n.Out[0], run.NCHW)
}

func (q *reduceOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	t := q.task
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process {
		own := t
		own.st = st
		return &own
	}}
}

// keepsOrder reports whether reducing an NHWC operand leaves the elements in the order of the model.
func keepsOrder(mask []bool, dims []int64) bool {
	spatial := true
	for i, m := range mask[2:] {
		spatial = spatial && (m || dims[i+2] == 1)
	}
	return spatial || mask[1]
}

func (t *reduceTask) Run(s *run.State) error {
	t.x, t.y = s.F32(t.st.Reads[0]), s.F32(t.st.Writes[0])
	var err error
	if t.work, err = s.Borrow(max(1, s.Threads) * t.room()); err != nil {
		return err
	}
	s.Do((t.outer+t.per-1)/t.per, t)
	return nil
}

// room is how many values of scratch memory a thread needs.
func (t *reduceTask) room() int {
	if t.inner == 1 {
		return kernel.ReduceRowsWork(t.per, t.count)
	}
	return kernel.ReduceColsWork(t.op, t.count, t.inner)
}

// Chunk computes some of the outer positions.
func (t *reduceTask) Chunk(i, worker int) {
	from, to := i*t.per, min(t.outer, (i+1)*t.per)
	run := t.count * t.inner
	y, work := t.y[from*t.inner:to*t.inner], t.work[worker*t.room():][:t.room()]
	switch {
	case t.count == 1:
		copy(y, t.x[from*run:])
		return
	case t.inner == 1:
		kernel.ReduceRows(t.op, y, t.x[from*run:], to-from, t.count, work)
	default:
		for o := from; o < to; o++ {
			kernel.ReduceCols(t.op, t.y[o*t.inner:][:t.inner], t.x[o*run:][:run], t.count, t.inner, work)
		}
	}
	if t.mean {
		kernel.BinaryVS(kernel.Div, y, y, float32(t.count))
	}
}
