package plan

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
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

// gather adds taking slices along one axis; the indices may be computed by the run.
func (b *builder) gather(n *graph.Node, o *op.Gather) bool {
	x, index := &b.values[n.In[0]], &b.values[n.In[1]]
	axis, ok := b.ints(n.In, 2)
	if !ok || !x.fast() || !b.values[n.Out[0]].fast() || index.dims == nil || index.typ.Quant != nil {
		return false
	}
	if index.typ.DType != tensor.Int32 && index.typ.DType != tensor.Int64 {
		return false
	}
	a := 0
	if len(axis) == 1 {
		var err error
		if a, err = op.Axis(axis[0], len(x.dims)); err != nil {
			return false
		}
	}
	t := gatherTask{dtype: index.typ.DType, wraps: o.NegativeWraps, outer: product(x.dims[:a]), size: int(x.dims[a]),
		inner: product(x.dims[a+1:])}
	t.per = max(1, blockLen/t.inner)
	count := index.count()
	s := step{fast: true, reads: []int{b.wantPlain(n.In[0]), b.wantPlain(n.In[1])}}
	if s.reads[1] == none {
		return false
	}
	s.writes = []int{b.make(n.Out[0], false)}
	s.start = func(_ *State, st *step) process {
		own := t
		admit(8 * int64(count))
		own.st, own.rows = st, make([]int, count)
		return &own
	}
	b.add(s)
	return true
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
