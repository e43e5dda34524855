package plan

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

type gatherTask struct {
	st                 *step
	dtype              tensor.DType
	wraps              bool
	outer, size, inner int
	rows               []int // per index, of this run: the place in the dimension
	per                int   // runs of a chunk
	x, y               []float32
}

// gatherOp takes slices along one axis.
type gatherOp struct {
	inOrder
	task  gatherTask
	count int
}

// matchGather finds taking slices along one axis; the indices may be computed by the run.
func matchGather(p *program, i int) *patch {
	g, n := p.net, &p.net.graph.Nodes[i]
	o, is := n.Op.(*op.Gather)
	if !is || !g.isFloat32(n.In[0], n.Out[0]) {
		return nil
	}
	x, index := &g.values[n.In[0]], &g.values[n.In[1]]
	axis, ok := g.ints(n.In, 2)
	if !ok || index.dims == nil || index.typ.Quant != nil ||
		index.typ.DType != tensor.Int32 && index.typ.DType != tensor.Int64 {
		return nil
	}
	a := 0
	if len(axis) == 1 {
		var err error
		if a, err = op.Axis(axis[0], len(x.dims)); err != nil {
			return nil
		}
	}
	t := gatherTask{dtype: index.typ.DType, wraps: o.NegativeWraps, outer: product(x.dims[:a]), size: int(x.dims[a]),
		inner: product(x.dims[a+1:])}
	t.per = max(1, blockLen/t.inner)
	return p.plainly(i, &gatherOp{task: t, count: index.count()}, 2)
}

func (q *gatherOp) lower(*lowering, *node) step {
	t, count := q.task, q.count
	return step{fast: true, start: func(_ *State, st *step) process {
		own := t
		admit(8 * int64(count))
		own.st, own.rows = st, make([]int, count)
		return &own
	}}
}

func (t *gatherTask) run(s *State) error {
	t.x, t.y = s.f32(t.st.reads[0]), s.f32(t.st.writes[0])
	data := s.mem[t.st.reads[1]]
	for k := range t.rows {
		index := tensor.IntAt(t.dtype, data, k)
		i := index
		if t.wraps && i < 0 {
			i += int64(t.size)
		}
		if i < 0 || i >= int64(t.size) {
			return fault.New(fault.Data, "input 1: element %d: index %d is outside a dimension of size %d", k, index, t.size)
		}
		t.rows[k] = int(i)
	}
	s.do((t.outer*len(t.rows)+t.per-1)/t.per, t)
	return nil
}

// Chunk copies some runs.
func (t *gatherTask) Chunk(i, _ int) {
	n := len(t.rows)
	for r := i * t.per; r < min(t.outer*n, (i+1)*t.per); r++ {
		copy(t.y[r*t.inner:][:t.inner], t.x[(r/n*t.size+t.rows[r%n])*t.inner:])
	}
}
