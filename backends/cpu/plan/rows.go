package plan

import (
	"math"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/core/op"
)

// rowsTask computes rows of a matrix, several of them a chunk.
type rowsTask struct {
	st         *step
	rows, cols int
	per        int // rows of a chunk
	compute    func(t *rowsTask, from, to int)
	x, y       []float32
}

// rowsOp computes rows of a matrix, each by itself, in any order of dimensions in which they are rows.
type rowsOp struct {
	task    rowsTask
	inplace bool
	orders  func(best order) order // of operand and result, given the best of the operand
	in      func(o order) rowsTask // the task in an order
}

func (q *rowsOp) layout(l *layouter, n *node) {
	o := q.orders(l.order(n, n.in[0]))
	q.task = q.in(o)
	inOrder{o}.layout(l, n)
}

func (q *rowsOp) lower(*lowering, *node) step {
	t := q.task
	t.per = max(1, blockLen/2/max(1, t.cols))
	return step{fast: true, inplace: q.inplace, start: func(_ *State, st *step) process {
		own := t
		own.st = st
		return &own
	}}
}

// always is an operand's order whatever is best.
func always(o order) func(order) order { return func(order) order { return o } }

// inBest is the best order.
func inBest(best order) order { return best }

func (t *rowsTask) run(s *State) error {
	t.x, t.y = s.f32(t.st.reads[0]), s.f32(t.st.writes[0])
	s.do((t.rows+t.per-1)/t.per, t)
	return nil
}

// Chunk computes some rows.
func (t *rowsTask) Chunk(i, _ int) { t.compute(t, i*t.per, min(t.rows, (i+1)*t.per)) }

func (t *rowsTask) part(from, to int) (y, x []float32) {
	return t.y[from*t.cols : to*t.cols], t.x[from*t.cols : to*t.cols]
}

// matchSoftmax finds a softmax along the last dimension, or the channels of images.
func matchSoftmax(p *program, i int) *patch {
	g, n := p.net, &p.net.graph.Nodes[i]
	var axis int64
	var compute func(t *rowsTask, from, to int)
	inplace := true
	switch o := n.Op.(type) {
	case *op.Softmax:
		axis, compute = o.Axis, softmax{beta: o.Scale()}.compute
	case *op.LogSoftmax:
		axis, compute, inplace = o.Axis, softmax{beta: o.Scale()}.logarithm, false
	default:
		return nil
	}
	x := &g.values[n.In[0]]
	a, err := op.Axis(axis, len(x.dims))
	if err != nil || !g.isFloat32(n.In[0], n.Out[0]) {
		return nil
	}
	q := &rowsOp{inplace: inplace, orders: always(nchw)}
	switch {
	case product(x.dims[a+1:]) == 1:
	case a == 1:
		q.orders = always(nhwc)
	default:
		return nil
	}
	cols := int(x.dims[a])
	t := rowsTask{rows: x.count() / cols, cols: cols, compute: compute}
	q.in = func(order) rowsTask { return t }
	return p.plainly(i, q, 1)
}

// softmax is a softmax of beta times the rows.
type softmax struct{ beta float32 }

func (q softmax) compute(t *rowsTask, from, to int) {
	y, x := t.part(from, to)
	kernel.SoftmaxRows(y, x, to-from, t.cols, q.beta)
}

// logarithm computes x - max - log(sum(exp(x - max))) of x times beta.
func (q softmax) logarithm(t *rowsTask, from, to int) {
	for r := from; r < to; r++ {
		y, x := t.part(r, r+1)
		m := q.beta * kernel.MaxOf(x)
		if q.beta < 0 {
			m = q.beta * kernel.MinOf(x)
		}
		sum := kernel.ExpSum(y, x, q.beta, m)
		if q.beta != 1 {
			kernel.BinaryVS(kernel.Mul, y, x, q.beta)
			x = y
		}
		kernel.BinaryVS(kernel.Sub, y, x, m)
		kernel.BinaryVS(kernel.Sub, y, y, float32(math.Log(float64(sum))))
	}
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

func matchBatchNorm(p *program, i int) *patch {
	g, n := p.net, &p.net.graph.Nodes[i]
	o, is := n.Op.(*op.BatchNorm)
	if !is || !g.isFloat32(n.In[0], n.Out[0]) {
		return nil
	}
	x := &g.values[n.In[0]]
	scale, shift := normFactors(g, n, o)
	a, err := op.Axis(o.Axis, len(x.dims))
	if scale == nil || shift == nil || err != nil || len(scale) != int(x.dims[a]) {
		return nil
	}
	norm := normTask{mean: g.constant(n.In[3]), scale: scale, offset: g.constant(n.In[2])}
	q := &rowsOp{inplace: true, orders: always(nchw)}
	if a == 1 {
		q.orders = inBest
	}
	count, inner := x.count(), product(x.dims[a+1:])
	q.in = func(o order) rowsTask {
		norm, cols := norm, inner
		if o == nhwc || inner == 1 {
			cols = len(scale)
		} else {
			norm.channels = len(scale)
		}
		return rowsTask{rows: count / cols, cols: cols, compute: norm.compute}
	}
	return p.plainly(i, q, 1)
}

func (q normTask) compute(t *rowsTask, from, to int) {
	if q.channels == 0 {
		y, x := t.part(from, to)
		kernel.BinaryRows(kernel.Sub, y, x, q.mean, to-from, t.cols, false)
		kernel.BinaryRows(kernel.Mul, y, y, q.scale, to-from, t.cols, false)
		kernel.BinaryRows(kernel.Add, y, y, q.offset, to-from, t.cols, false)
		return
	}
	for r := from; r < to; r++ {
		y, x := t.part(r, r+1)
		c := r % q.channels
		kernel.BinaryVS(kernel.Sub, y, x, q.mean[c])
		kernel.BinaryVS(kernel.Mul, y, y, q.scale[c])
		kernel.BinaryVS(kernel.Add, y, y, q.offset[c])
	}
}
