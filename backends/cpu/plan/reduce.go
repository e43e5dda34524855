package plan

import (
	"github.com/anynpu/anynpu/backends/cpu/kernel"
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
	st                  *step
	op                  kernel.ReduceOp
	mean                bool
	outer, count, inner int
	per                 int // of outer, in a chunk
	x, y, work          []float32
}

// reduce adds a reduction over neighbouring axes.
func (b *builder) reduce(n *graph.Node) bool {
	k, mean, emptyKeeps, ok := reduction(n.Op)
	x := &b.values[n.In[0]]
	if !ok || !x.fast() || !b.values[n.Out[0]].fast() {
		return false
	}
	axes, ok := b.ints(n.In, 1)
	if !ok || len(axes) == 0 && emptyKeeps {
		return false
	}
	mask, err := op.AxisMask(axes, len(x.dims))
	if err != nil {
		return false
	}
	for i := range mask {
		mask[i] = mask[i] || len(axes) == 0
	}
	dims := x.dims
	last := b.inLast(n.In[0]) && keepsOrder(mask, dims)
	if last {
		dims = lastDims(dims)
		mask = append(append([]bool{mask[0]}, mask[2:]...), mask[1])
	}
	t := reduceTask{op: k, mean: mean, outer: 1, count: 1, inner: 1}
	parts := []*int{&t.outer, &t.count, &t.inner}
	at := 0
	for d, size := range dims {
		if size == 1 {
			continue
		}
		if (at == 1) != mask[d] {
			at++
		}
		if at >= len(parts) {
			return false
		}
		*parts[at] *= int(size)
	}
	t.per = max(1, blockLen/(t.count*t.inner))
	s := step{fast: true, reads: []int{b.form(n.In[0], last)}, writes: []int{b.make(n.Out[0], false)}}
	s.start = func(_ *State, st *step) process {
		own := t
		own.st = st
		return &own
	}
	b.add(s)
	return true
}

// keepsOrder reports whether reducing the channels-last form leaves the elements in the order of the plain one.
func keepsOrder(mask []bool, dims []int64) bool {
	spatial := true
	for i, m := range mask[2:] {
		spatial = spatial && (m || dims[i+2] == 1)
	}
	return spatial || mask[1]
}

func (t *reduceTask) run(s *State) error {
	t.x, t.y = s.f32(t.st.reads[0]), s.f32(t.st.writes[0])
	var err error
	if t.work, err = s.borrow(max(1, s.threads) * t.room()); err != nil {
		return err
	}
	s.do((t.outer+t.per-1)/t.per, t)
	return nil
}

// room is how many values of scratch memory a thread needs.
func (t *reduceTask) room() int { return kernel.ReduceColsWork(t.op, t.count, t.inner) }

// Chunk computes some of the outer positions.
func (t *reduceTask) Chunk(i, worker int) {
	from, to := i*t.per, min(t.outer, (i+1)*t.per)
	run := t.count * t.inner
	y := t.y[from*t.inner : to*t.inner]
	if t.inner == 1 {
		kernel.ReduceRows(t.op, y, t.x[from*run:], to-from, t.count)
	} else {
		for o := from; o < to; o++ {
			kernel.ReduceCols(t.op, t.y[o*t.inner:][:t.inner], t.x[o*run:][:run], t.count, t.inner,
				t.work[worker*t.room():][:t.room()])
		}
	}
	if t.mean {
		kernel.BinaryVS(kernel.Div, y, y, float32(t.count))
	}
}
