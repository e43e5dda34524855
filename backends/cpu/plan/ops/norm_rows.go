package ops

import (
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/op"
)

// rowsTask computes rows of a matrix, several of them a chunk.
type rowsTask struct {
	st         *run.Step
	rows, cols int
	per        int // rows of a chunk
	compute    func(t *rowsTask, from, to int)
	x, y       []float32
}

// rowsOp computes rows of a matrix, each by itself, in any order of dimensions in which they are rows.
type rowsOp struct {
	task    rowsTask
	inplace bool
	orders  func(best run.Order) run.Order     // of operand and result, given the best of the operand
	in      func(o run.Order) rowsTask         // the task in an order
	halved  func(kernel.HalfType) ir.Operation // the same of halves, nil: there is none
}

// Halved is the operation of halves, nil when there is none.
func (q *rowsOp) Halved(h kernel.HalfType) ir.Operation {
	if q.halved == nil {
		return nil
	}
	return q.halved(h)
}

func (q *rowsOp) Layout(l *ir.Layouter, n *ir.Node) {
	o := q.orders(l.Order(n, n.In[0]))
	q.task = q.in(o)
	ir.InOrder{Order: o}.Layout(l, n)
}

func (q *rowsOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	t := q.task
	t.per = max(1, run.BlockLen/2/max(1, t.cols))
	return run.Step{Fast: true, Inplace: q.inplace, Start: func(_ *run.State, st *run.Step) run.Process {
		own := t
		own.st = st
		return &own
	}}
}

// always is an operand's order whatever is best.
func always(o run.Order) func(run.Order) run.Order { return func(run.Order) run.Order { return o } }

// inBest is the best order.
func inBest(best run.Order) run.Order { return best }

func (t *rowsTask) Run(s *run.State) error {
	t.x, t.y = s.F32(t.st.Reads[0]), s.F32(t.st.Writes[0])
	s.Do((t.rows+t.per-1)/t.per, t)
	return nil
}

// Chunk computes some rows.
func (t *rowsTask) Chunk(i, _ int) { t.compute(t, i*t.per, min(t.rows, (i+1)*t.per)) }

func (t *rowsTask) part(from, to int) (y, x []float32) {
	return t.y[from*t.cols : to*t.cols], t.x[from*t.cols : to*t.cols]
}

// withoutOnes drops leading ones.
func withoutOnes(dims []int64) []int64 {
	for len(dims) > 0 && dims[0] == 1 {
		dims = dims[1:]
	}
	return dims
}

// normTask is a batch normalization that no product takes over.
type normTask struct {
	mean, scale, offset []float32
	channels            int // 0: a row holds one value of every channel, else a row belongs to one channel
}

func matchBatchNorm(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.BatchNorm)
	if !is || !g.IsFloat32(n.In[0], n.Out[0]) {
		return nil
	}
	x := &g.Values[n.In[0]]
	scale, shift := normFactors(g, n, o)
	a, err := op.Axis(o.Axis, len(x.Dims))
	if scale == nil || shift == nil || err != nil || len(scale) != int(x.Dims[a]) {
		return nil
	}
	norm := normTask{mean: g.Constant(n.In[3]), scale: scale, offset: g.Constant(n.In[2])}
	q := &rowsOp{inplace: true, orders: always(run.NCHW)}
	if a == 1 {
		q.orders = inBest
	}
	count, inner := x.Count(), run.Product(x.Dims[a+1:])
	if inner > 1 {
		q.halved = func(h kernel.HalfType) ir.Operation { return &affineHalves{normTask: norm, of: h, inner: inner} }
	}
	q.in = func(o run.Order) rowsTask {
		norm, cols := norm, inner
		if o == run.NHWC || inner == 1 {
			cols = len(scale)
		} else {
			norm.channels = len(scale)
		}
		return rowsTask{rows: count / cols, cols: cols, compute: norm.compute}
	}
	return p.Plainly(i, q, 1)
}

func (q normTask) compute(t *rowsTask, from, to int) {
	if q.channels == 0 {
		y, x := t.part(from, to)
		kernel.BinaryRows(kernel.Sub, y, x, q.mean, to-from, t.cols)
		kernel.BinaryRows(kernel.Mul, y, y, q.scale, to-from, t.cols)
		kernel.BinaryRows(kernel.Add, y, y, q.offset, to-from, t.cols)
		return
	}
	for r := from; r < to; r++ {
		y, x := t.part(r, r+1)
		c := r % q.channels
		kernel.Affine(y, x, q.mean[c], q.scale[c], q.offset[c])
	}
}

// affineHalves is (x-mean)*scale + offset of halves, channel by channel.
type affineHalves struct {
	ir.InOrder
	normTask
	of    kernel.HalfType
	inner int // neighbours of a channel
}

func (q *affineHalves) Lower(*ir.Lowering, *ir.Node) run.Step {
	return run.Step{Fast: true, Inplace: true, Start: func(_ *run.State, st *run.Step) run.Process {
		return &affineHalvesTask{halvesTask: halvesTask{st: st}, affineHalves: q, per: max(1, run.BlockLen/q.inner)}
	}}
}

type affineHalvesTask struct {
	halvesTask
	*affineHalves
	per int // rows of a chunk
}

func (t *affineHalvesTask) Run(s *run.State) error {
	t.take(s)
	s.Do((len(t.x)/t.inner+t.per-1)/t.per, t)
	return nil
}

// Chunk computes some rows of a channel each.
func (t *affineHalvesTask) Chunk(i, _ int) {
	scratch := borrowLines()
	for r := i * t.per; r < min(len(t.x)/t.inner, (i+1)*t.per); r++ {
		c := r % len(t.scale)
		kernel.AffineHalves(t.of, t.y[r*t.inner:][:t.inner], t.x[r*t.inner:][:t.inner], t.mean[c], t.scale[c],
			t.offset[c], scratch.floats())
	}
	returnLines(scratch)
}
