package ops

import (
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

type gatherTask struct {
	st                 *run.Step
	dtype              tensor.DType
	wraps              bool
	outer, size, inner int   // inner is bytes
	rows               []int // per index, of this run: the place in the dimension
	per                int   // runs of a chunk
	x, y               []byte
}

// gatherOp takes slices along one axis.
type gatherOp struct {
	ir.InOrder
	task  gatherTask
	count int
}

// matchGather finds taking slices along one axis; the indices may be computed by the run.
func matchGather(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.Gather)
	if !is || !movable(g, n.In[0], n.Out[0]) {
		return nil
	}
	x, index := &g.Values[n.In[0]], &g.Values[n.In[1]]
	axis, ok := g.Ints(n.In, 2)
	if !ok || index.Dims == nil || index.Type.Quant != nil ||
		index.Type.DType != tensor.Int32 && index.Type.DType != tensor.Int64 {
		return nil
	}
	a := 0
	if len(axis) == 1 {
		var err error
		if a, err = op.Axis(axis[0], len(x.Dims)); err != nil {
			return nil
		}
	}
	t := gatherTask{dtype: index.Type.DType, wraps: o.NegativeWraps, outer: run.Product(x.Dims[:a]), size: int(x.Dims[a]),
		inner: run.Product(x.Dims[a+1:]) * x.Type.DType.Bits() / 8}
	t.per = max(1, 4*run.BlockLen/t.inner)
	return p.Plainly(i, &gatherOp{task: t, count: index.Count()}, 2)
}

func (q *gatherOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	t, count := q.task, q.count
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process {
		own := t
		run.Admit(8 * int64(count))
		own.st, own.rows = st, make([]int, count)
		return &own
	}}
}

func (t *gatherTask) Run(s *run.State) error {
	t.x, t.y = s.Mem[t.st.Reads[0]], s.Mem[t.st.Writes[0]]
	data := s.Mem[t.st.Reads[1]]
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
	s.Do((t.outer*len(t.rows)+t.per-1)/t.per, t)
	return nil
}

// Chunk copies some runs.
func (t *gatherTask) Chunk(i, _ int) {
	n := len(t.rows)
	first, end := i*t.per, min(t.outer*n, (i+1)*t.per)
	switch t.inner {
	case 4:
		gatherEach[uint32](t, first, end)
		return
	case 8:
		gatherEach[uint64](t, first, end)
		return
	}
	for r := first; r < end; r++ {
		kernel.Copy(t.y[r*t.inner:][:t.inner], t.x[(r/n*t.size+t.rows[r%n])*t.inner:])
	}
}

// gatherEach is Chunk for runs of one element.
func gatherEach[T uint32 | uint64](t *gatherTask, first, end int) {
	x, y, n := mem.Elements[T](t.x), mem.Elements[T](t.y), len(t.rows)
	for r := first; r < end; {
		k := r % n
		rows, line := t.rows[k:min(n, k+end-r)], x[r/n*t.size:][:t.size]
		v := y[r:][:len(rows)]
		for j, at := range rows {
			v[j] = line[at]
		}
		r += len(rows)
	}
}
