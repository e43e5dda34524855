package plan

import (
	"math"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// rowsTask computes rows of a matrix, several of them a chunk.
type rowsTask struct {
	st         *step
	rows, cols int
	per        int // rows of a chunk
	compute    func(t *rowsTask, from, to int)
	x, y       []float32
	value      float32
}

// byRows adds a step that computes rows x cols elements row by row.
func (b *builder) byRows(s step, t rowsTask) {
	t.per = max(1, blockLen/2/max(1, t.cols))
	s.fast = true
	s.start = func(_ *State, st *step) process {
		own := t
		own.st = st
		return &own
	}
	b.add(s)
}

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

func (b *builder) softmax(n *graph.Node, axis int64, log bool) bool {
	x := &b.values[n.In[0]]
	if !x.fast() || !b.values[n.Out[0]].fast() {
		return false
	}
	a, err := op.Axis(axis, len(x.dims))
	if err != nil {
		return false
	}
	last := a == 1 && len(x.dims) > 2 && product(x.dims[2:]) > 1
	if last && !b.inLast(n.In[0]) || !last && product(x.dims[a+1:]) != 1 {
		return false
	}
	cols := int(x.dims[a])
	t := rowsTask{rows: x.count() / cols, cols: cols, compute: softmaxRows}
	if log {
		t.compute = logSoftmaxRows
	}
	s := step{inplace: !log, reads: []int{b.form(n.In[0], last)}}
	s.writes = []int{b.make(n.Out[0], last)}
	b.byRows(s, t)
	return true
}

func softmaxRows(t *rowsTask, from, to int) {
	y, x := t.part(from, to)
	kernel.SoftmaxRows(y, x, to-from, t.cols, 1)
}

// logSoftmaxRows computes x - max - log(sum(exp(x - max))).
func logSoftmaxRows(t *rowsTask, from, to int) {
	for r := from; r < to; r++ {
		y, x := t.part(r, r+1)
		m := kernel.MaxOf(x)
		sum := kernel.ExpSum(y, x, 1, m)
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

func (b *builder) batchNorm(n *graph.Node, o *op.BatchNorm) bool {
	x := &b.values[n.In[0]]
	if !x.fast() || !b.values[n.Out[0]].fast() {
		return false
	}
	scale, shift := b.normFactors(n, o)
	a, err := op.Axis(o.Axis, len(x.dims))
	if scale == nil || shift == nil || err != nil || len(scale) != int(x.dims[a]) {
		return false
	}
	norm := normTask{mean: b.constant(n.In[3]), scale: scale, offset: b.constant(n.In[2])}
	last := a == 1 && b.inLast(n.In[0])
	cols := product(x.dims[a+1:])
	if last || cols == 1 {
		cols = len(scale)
	} else {
		norm.channels = len(scale)
	}
	s := step{inplace: true, reads: []int{b.form(n.In[0], last)}}
	s.writes = []int{b.make(n.Out[0], last)}
	b.byRows(s, rowsTask{rows: x.count() / cols, cols: cols, compute: norm.compute})
	return true
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
