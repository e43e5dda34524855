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

// vectorsOp takes runs of elements from where vectors of indices say, or puts them there.
type vectorsOp struct {
	ir.InOrder
	wraps    bool
	indices  tensor.DType
	sizes    []int64 // of the dimensions that a vector counts
	steps    []int   // bytes from one index to the next
	vectors  int
	batch    int // vectors of a batch, and bytes from one batch to the next
	apart    int
	run      int // bytes
	scatters bool
	joins    func(y, x []byte) // nil: elements replace those that are there
}

func matchVectors(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	q := &vectorsOp{}
	batches := 0
	switch o := n.Op.(type) {
	case *op.GatherND:
		batches, q.wraps = int(o.BatchDims), o.NegativeWraps
	case *op.ScatterND:
		q.wraps, q.scatters = o.NegativeWraps, true
		if d := g.Values[n.In[0]].Type.DType; o.Reduction != op.ScatterSet {
			if q.joins = joining(o.Reduction, d); q.joins == nil {
				return nil
			}
		}
	default:
		return nil
	}
	if !plainElements(g, n.In...) || !movable(g, n.In[0], n.Out[0]) {
		return nil
	}
	x, index := &g.Values[n.In[0]], &g.Values[n.In[1]]
	last := len(index.Dims) - 1
	if q.indices = index.Type.DType; q.indices != tensor.Int32 && q.indices != tensor.Int64 || last < 0 ||
		x.Count() == 0 || index.Count() == 0 || q.scatters && g.Values[n.In[2]].Type.DType != x.Type.DType {
		return nil
	}
	k, size := int(index.Dims[last]), x.Type.DType.Bits()/8
	if batches+k > len(x.Dims) {
		return nil
	}
	own := strides(x.Dims)
	q.sizes = x.Dims[batches:][:k]
	for _, s := range own[batches:][:k] {
		q.steps = append(q.steps, s*size)
	}
	q.run = run.Product(x.Dims[batches+k:]) * size
	q.vectors = run.Product(index.Dims[:last])
	q.batch, q.apart = q.vectors/run.Product(x.Dims[:batches]), run.Product(x.Dims[batches:])*size
	return p.Plainly(i, q, len(n.In))
}

// joining is a reduction of elements of a type, nil when there is none.
func joining(r op.ScatterReduction, d tensor.DType) func(y, x []byte) {
	if d == tensor.Float32 {
		by, ok := map[op.ScatterReduction]kernel.BinaryOp{op.ScatterAdd: kernel.Add, op.ScatterMul: kernel.Mul}[r]
		if !ok { // a NaN of either operand
			return nil
		}
		return func(y, x []byte) {
			a, b := run.Floats(y), run.Floats(x)
			switch {
			case len(a) > 8:
				kernel.BinaryVV(by, a, a, b)
			case by == kernel.Add:
				for i := range a {
					a[i] += b[i]
				}
			default:
				for i := range a {
					a[i] *= b[i]
				}
			}
		}
	}
	if !d.IsInt() || d.Bits() < 8 {
		return nil
	}
	var by kernel.IntegerOp
	switch r {
	case op.ScatterAdd:
		by = kernel.AddI8.Sized(d.Bits() / 8)
	case op.ScatterMul:
		by = kernel.MulI8.Sized(d.Bits() / 8)
	case op.ScatterMax:
		by = mostOf(d)
	case op.ScatterMin:
		by = leastOf(d)
	default:
		return nil
	}
	return func(y, x []byte) { kernel.IntegersVV(by, y, y, x) }
}

func (q *vectorsOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process {
		return &vectorsTask{vectorsOp: q, st: st}
	}}
}

type vectorsTask struct {
	*vectorsOp
	st *run.Step
}

func (t *vectorsTask) Run(s *run.State) error {
	if y := s.Mem[t.st.Writes[0]]; t.scatters {
		kernel.Copy(y, s.Mem[t.st.Reads[0]])
	}
	if index := s.Mem[t.st.Reads[1]]; t.indices == tensor.Int32 {
		return moveVectors(t, s, mem.Elements[int32](index))
	}
	return moveVectors(t, s, mem.Elements[int64](s.Mem[t.st.Reads[1]]))
}

// moveVectors moves runs in the order of the vectors, since the last of those that go to one place counts.
func moveVectors[T int32 | int64](t *vectorsTask, s *run.State, index []T) error {
	y, x := s.Mem[t.st.Writes[0]], s.Mem[t.st.Reads[0]]
	if t.scatters {
		x = s.Mem[t.st.Reads[2]]
	}
	n := len(t.sizes)
	for i := range t.vectors {
		at := 0
		if t.apart > 0 && t.batch > 0 {
			at = i / t.batch * t.apart
		}
		for d, k := range index[i*n:][:n] {
			place := int64(k)
			if t.wraps && place < 0 {
				place += t.sizes[d]
			}
			if uint64(place) >= uint64(t.sizes[d]) {
				return fault.New(fault.Data, "input 1: vector %d: index %d is outside a dimension of size %d", i, k, t.sizes[d])
			}
			at += int(place) * t.steps[d]
		}
		switch {
		case !t.scatters:
			kernel.Copy(y[i*t.run:][:t.run], x[at:])
		case t.joins == nil:
			kernel.Copy(y[at:][:t.run], x[i*t.run:])
		default:
			t.joins(y[at:][:t.run], x[i*t.run:][:t.run])
		}
	}
	return nil
}

// matchCompress finds the taking of slices that a constant names.
func matchCompress(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.Compress)
	if !is || !movable(g, n.In[0], n.Out[0]) || g.Values[n.In[1]].Data == nil {
		return nil
	}
	x, y := &g.Values[n.In[0]], &g.Values[n.Out[0]]
	dims := x.Dims
	if o.Flatten {
		dims = []int64{int64(x.Count())}
	}
	a := 0
	if !o.Flatten {
		var err error
		if a, err = op.Axis(o.Axis, len(dims)); err != nil {
			return nil
		}
	}
	var index [][]int
	for d, n := range dims {
		index = append(index, upTo(0, 1, int(n)))
		if d != a {
			continue
		}
		var list []int
		for k, b := range g.Values[p.Net.Graph.Nodes[i].In[1]].Data {
			if b != 0 {
				list = append(list, k)
			}
		}
		if len(list) == 0 || list[len(list)-1] >= int(n) || len(list)*x.Count() != y.Count()*int(n) {
			return nil
		}
		index[d] = list
	}
	return p.Plainly(i, &tableOp{index: index, dims: dims}, 1)
}
