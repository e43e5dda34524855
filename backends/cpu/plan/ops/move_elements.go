package ops

import (
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// elementsOp takes single elements along an axis to where indices say, or from there.
type elementsOp struct {
	ir.InOrder
	dims, index []int64 // of the data, and of indices
	axis        int
	wraps       bool
	indices     tensor.DType
	size        int
	scatters    bool
}

func matchElements(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	q := &elementsOp{}
	var axis int64
	switch o := n.Op.(type) {
	case *op.GatherElements:
		axis, q.wraps = o.Axis, o.NegativeWraps
	case *op.ScatterElements:
		if o.Reduction != op.ScatterSet {
			return nil
		}
		axis, q.wraps, q.scatters = o.Axis, o.NegativeWraps, true
	default:
		return nil
	}
	if !plainElements(g, n.In...) || !plainElements(g, n.Out[0]) {
		return nil
	}
	x, index := &g.Values[n.In[0]], &g.Values[n.In[1]]
	q.dims, q.index, q.indices, q.size = x.Dims, index.Dims, index.Type.DType, x.Type.DType.Bits()/8
	a, err := op.Axis(axis, len(x.Dims))
	if q.axis = a; err != nil || len(index.Dims) != len(x.Dims) ||
		q.indices != tensor.Int32 && q.indices != tensor.Int64 ||
		g.Values[n.Out[0]].Type.DType != x.Type.DType || q.scatters && g.Values[n.In[2]].Type.DType != x.Type.DType {
		return nil
	}
	return p.Plainly(i, q, len(n.In))
}

func (q *elementsOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process {
		return &elementsTask{elementsOp: q, st: st}
	}}
}

type elementsTask struct {
	*elementsOp
	st *run.Step
}

func (t *elementsTask) Run(s *run.State) error {
	x, index, y := s.Mem[t.st.Reads[0]], s.Mem[t.st.Reads[1]], s.Mem[t.st.Writes[0]]
	from := x
	if t.scatters {
		kernel.Copy(y, x)
		from = s.Mem[t.st.Reads[2]]
	}
	switch t.size {
	case 1:
		return elements[uint8](t.elementsOp, y, from, index)
	case 2:
		return elements[uint16](t.elementsOp, y, from, index)
	case 4:
		return elements[uint32](t.elementsOp, y, from, index)
	}
	return elements[uint64](t.elementsOp, y, from, index)
}

// elements moves an element for each index, in their order, since the last of those that go to one place counts.
func elements[T uint8 | uint16 | uint32 | uint64](q *elementsOp, y, x, indices []byte) error {
	u, v := mem.Elements[T](y), mem.Elements[T](x)
	if q.indices == tensor.Int64 {
		return elementsAt(q, u, v, mem.Elements[int64](indices))
	}
	return elementsAt(q, u, v, mem.Elements[int32](indices))
}

func elementsAt[T uint8 | uint16 | uint32 | uint64, I int32 | int64](q *elementsOp, u, v []T, index []I) error {
	own := strides(q.dims)
	last := len(q.index) - 1
	n, step, rank := int(q.index[last]), own[q.axis], int(q.dims[q.axis])
	wrap := 0
	if q.wraps {
		wrap = rank
	}
	for row := range run.Product(q.index[:last]) {
		at, rest := 0, row // the place in the data, without the axis
		for d := last - 1; d >= 0; d-- {
			if k := rest % int(q.index[d]); d != q.axis {
				at += k * own[d]
			}
			rest /= int(q.index[d])
		}
		each := 1
		if q.axis == last {
			each = 0
		}
		line := index[row*n:][:n]
		bad := -1
		if each == 0 && !q.scatters {
			bad = chosen(u[row*n:][:n], v[at:][:rank], line, wrap)
		} else if q.scatters {
			w := v[row*n:][:n]
			for j, i := range line {
				k := int(i)
				if k < 0 {
					k += wrap
				}
				if uint(k) >= uint(rank) {
					bad = j
					break
				}
				u[at+k*step] = w[j]
				at += each
			}
		} else {
			bad = chosenApart(u[row*n:][:n], v[min(at, len(v)):], line, wrap, step, rank)
		}
		if bad >= 0 {
			return fault.New(fault.Data, "input 1: element %d: index %d is outside a dimension of size %d", row*n+bad,
				line[bad], rank)
		}
	}
	return nil
}

// chosen takes an element of x for each index of line, to which wrap is added where it is below 0. It returns the first
// that is outside, -1: none.
func chosen[T uint8 | uint16 | uint32 | uint64, I int32 | int64](y, x []T, line []I, wrap int) int {
	y = y[:len(line)]
	for j, i := range line {
		k := int(i)
		if uint(k) >= uint(len(x)) {
			if k += wrap; k >= wrap || uint(k) >= uint(len(x)) {
				return j
			}
		}
		y[j] = x[k]
	}
	return -1
}

// chosenApart is chosen for elements that are step apart, size of them, and begin at the next element for each index.
func chosenApart[T uint8 | uint16 | uint32 | uint64, I int32 | int64](y, x []T, line []I, wrap, step, size int) int {
	y = y[:len(line)]
	for j, i := range line {
		k := int(i)
		if uint(k) >= uint(size) {
			if k += wrap; k >= wrap || uint(k) >= uint(size) {
				return j
			}
		}
		y[j] = x[k*step+j]
	}
	return -1
}

// triangleOp keeps the elements on one side of a diagonal.
type triangleOp struct {
	ir.InOrder
	rows, cols, diagonal int
	upper                bool
	matrices, size       int
}

func matchTrilu(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.Trilu)
	if !is || !plainElements(g, n.In[0], n.Out[0]) || !movable(g, n.In[0], n.Out[0]) {
		return nil
	}
	k, known := g.Ints(n.In, 1)
	x := &g.Values[n.In[0]]
	rank := len(x.Dims)
	if !known || len(k) > 1 || rank < 2 {
		return nil
	}
	q := &triangleOp{rows: int(x.Dims[rank-2]), cols: int(x.Dims[rank-1]), upper: o.Upper, size: x.Type.DType.Bits() / 8}
	q.matrices = x.Count() / (q.rows * q.cols)
	if len(k) == 1 {
		q.diagonal = int(min(max(k[0], int64(-q.rows)), int64(q.cols)))
	}
	return p.Plainly(i, q, 1)
}

func (q *triangleOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process {
		return &triangleTask{triangleOp: q, st: st}
	}}
}

type triangleTask struct {
	*triangleOp
	st   *run.Step
	x, y []byte
}

func (t *triangleTask) Run(s *run.State) error {
	t.x, t.y = s.Mem[t.st.Reads[0]], s.Mem[t.st.Writes[0]]
	s.Do(t.matrices, t)
	return nil
}

// Chunk makes one matrix.
func (t *triangleTask) Chunk(i, _ int) {
	row := t.cols * t.size
	for r := range t.rows {
		x, y := t.x[(i*t.rows+r)*row:][:row], t.y[(i*t.rows+r)*row:][:row]
		at := min(max(r+t.diagonal, 0), t.cols) * t.size // the first on the diagonal
		if t.upper {
			clear(y[:at])
			copy(y[at:], x[at:])
			continue
		}
		at = min(max(r+t.diagonal+1, 0), t.cols) * t.size
		copy(y[:at], x)
		clear(y[at:])
	}
}

// oneHotOp makes rows with one element that differs.
type oneHotOp struct {
	ir.InOrder
	depth, inner, n int
	wraps           bool
	indices         tensor.DType
	size            int
}

func matchOneHot(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.OneHot)
	if !is || !plainElements(g, n.In[0], n.In[2], n.In[3], n.Out[0]) || !g.Values[n.In[0]].Type.DType.IsInt() {
		return nil
	}
	y := &g.Values[n.Out[0]]
	lines, ok := alongAxis(y.Dims, o.Axis)
	if !ok || g.Values[n.In[2]].Type.DType != y.Type.DType || g.Values[n.In[3]].Type.DType != y.Type.DType ||
		g.Values[n.In[0]].Type.DType == tensor.Uint64 {
		return nil
	}
	q := &oneHotOp{depth: lines.count, inner: lines.inner, n: g.Values[n.In[0]].Count(),
		wraps: o.Outside == op.OneHotWraps, indices: g.Values[n.In[0]].Type.DType, size: y.Type.DType.Bits() / 8}
	return ir.One(i, q, []graph.Value{n.In[0], n.In[2], n.In[3]}, slices.Clone(n.Out))
}

func (q *oneHotOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process {
		return &oneHotTask{oneHotOp: q, st: st}
	}}
}

type oneHotTask struct {
	*oneHotOp
	st                *run.Step
	per               int // outer positions of a chunk
	zeros             bool
	index, on, off, y []byte
}

func (t *oneHotTask) Run(s *run.State) error {
	t.index, t.on, t.off, t.y = s.Mem[t.st.Reads[0]], s.Mem[t.st.Reads[1]], s.Mem[t.st.Reads[2]], s.Mem[t.st.Writes[0]]
	t.zeros = !slices.ContainsFunc(t.off[:t.size], func(b byte) bool { return b != 0 })
	t.per = max(1, 4*run.BlockLen/(t.depth*t.inner*t.size))
	s.Do((t.n/t.inner+t.per-1)/t.per, t)
	return nil
}

// Chunk makes the rows of some outer positions.
func (t *oneHotTask) Chunk(i, _ int) {
	whole := t.depth * t.inner // elements of a position
	from, to := i*t.per, min(t.n/t.inner, (i+1)*t.per)
	if y := t.y[from*whole*t.size : to*whole*t.size]; t.zeros {
		clear(y)
	} else {
		kernel.Repeat(y, copy(y, t.off[:t.size]))
	}
	switch t.size {
	case 1:
		marked[uint8](t, from, to)
	case 2:
		marked[uint16](t, from, to)
	case 4:
		marked[uint32](t, from, to)
	default:
		marked[uint64](t, from, to)
	}
}

// marked writes the elements that differ.
func marked[T uint8 | uint16 | uint32 | uint64](t *oneHotTask, from, to int) {
	y, on := mem.Elements[T](t.y), mem.Elements[T](t.on)[0]
	var wide []int64
	if t.indices == tensor.Int64 {
		wide = mem.Elements[int64](t.index)
	}
	for o := from; o < to; o++ {
		for j := range t.inner {
			k := o*t.inner + j
			var hot int64
			if wide != nil {
				hot = wide[k]
			} else {
				hot = tensor.IntAt(t.indices, t.index, k)
			}
			if t.wraps && hot < 0 {
				hot += int64(t.depth)
			}
			if hot >= 0 && hot < int64(t.depth) {
				y[(o*t.depth+int(hot))*t.inner+j] = on
			}
		}
	}
}

// axisLines is a value as lines along an axis: outer times inner of them, count elements each, inner elements apart.
type axisLines struct{ outer, count, inner int }

// alongAxis returns the lines of a value, ok false when there is no such axis.
func alongAxis(dims []int64, axis int64) (a axisLines, ok bool) {
	k, err := op.Axis(axis, len(dims))
	if err != nil {
		return a, false
	}
	return axisLines{run.Product(dims[:k]), int(dims[k]), run.Product(dims[k+1:])}, true
}
