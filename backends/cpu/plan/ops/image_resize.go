package ops

import (
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

type resizeTask struct {
	st     *run.Step
	chunks int // 0: not planned yet
	kernel.Resize
}

// resizeOp resizes the two spatial dimensions of images.
type resizeOp struct {
	ir.InOrder
	kernel kernel.Resize
}

// matchResize finds nearest resizing of any dimensions, and linear one of one or two spatial dimensions.
func matchResize(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.Resize)
	if !is || o.Mode == op.ResizeCubic || !movable(g, n.In[0], n.Out[0]) {
		return nil
	}
	x, y := &g.Values[n.In[0]], &g.Values[n.Out[0]]
	rank := len(x.Dims)
	if o.Mode == op.ResizeLinear && (!g.IsFloat32(n.In[0], n.Out[0]) || rank < 3 || rank > 4) {
		return nil
	}
	in, ok := constantInputs(g, n)
	if !ok {
		return nil
	}
	axes, err := o.ResolveAxes(rank)
	if err != nil {
		return nil
	}
	tables := int64(0)
	for d := range y.Dims {
		n := run.Saturated(48, int(y.Dims[d])) // lists of neighbours, and weights
		if o.Mode == op.ResizeNearest {        // places, of operand and result, and parts of them at one distance
			n = run.Saturated(16, int(y.Dims[d])) + run.Saturated(64, int(min(x.Dims[d], y.Dims[d])))
		}
		if tables += n; !g.Budget.Allows(tables) {
			return nil
		}
	}
	cells, err := ref.Resamplers(o, in, axes)
	if err != nil {
		return nil
	}
	if o.Mode == op.ResizeNearest {
		return nearestPatch(p, i, axes, cells, tables)
	}
	lists := make([]*kernel.Axis, rank)
	for i, a := range axes {
		list, ok := resizeAxis(&cells[i])
		if !ok || cells[i].Out != int(y.Dims[a]) {
			return nil
		}
		lists[a] = &list
	}
	for d := range lists {
		if lists[d] == nil {
			same := identityAxis(int(x.Dims[d]))
			lists[d] = &same
		}
	}
	images, c, w := run.NHWC, 1, rank-1 // the channels are dimension 1
	if !unchanged(lists[c], int(x.Dims[c])) {
		images, c, w = run.NCHW, rank-1, rank-2
	}
	if !unchanged(lists[0], int(x.Dims[0])) || !unchanged(lists[c], int(x.Dims[c])) {
		return nil
	}
	k := kernel.Resize{C: int(x.Dims[c]), Batch: int(x.Dims[0]), In: [2]int{1, int(x.Dims[w])}, Rows: identityAxis(1),
		Cols: *lists[w]}
	if rank == 4 {
		k.In[0], k.Rows = int(x.Dims[w-1]), *lists[w-1]
	}
	found := p.Plainly(i, &resizeOp{ir.InOrder{Order: images}, k}, 1)
	found.Tables = tables
	return found
}

// constantInputs are the inputs of a node by their sizes, and those behind the first by their elements; false when
// these are not constant.
func constantInputs(g *ir.Network, n *graph.Node) (in []tensor.Tensor, ok bool) {
	x := &g.Values[n.In[0]]
	in = make([]tensor.Tensor, len(n.In))
	in[0] = tensor.Tensor{DType: x.Type.DType, Dims: x.Dims}
	for k := 1; k < len(n.In); k++ {
		if !ir.Given(n.In, k) {
			continue
		}
		v := &g.Values[n.In[k]]
		if v.Data == nil || v.Dims == nil {
			return nil, false
		}
		in[k] = tensor.Tensor{DType: v.Type.DType, Dims: v.Dims, Data: v.Data}
		if v.Count() == 0 {
			in[k] = tensor.Tensor{}
		}
	}
	return in, true
}

func (q *resizeOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	k := q.kernel
	return run.Step{Fast: true, InCols: []int{k.C}, OutCols: []int{k.C},
		Start: func(_ *run.State, st *run.Step) run.Process { return &resizeTask{st: st, Resize: k} }}
}

// nearestPatch moves elements of any type, nil when an output cell is outside.
func nearestPatch(p *ir.Program, i int, axes []int, cells []ref.Resampler, tables int64) *ir.Patch {
	n := &p.Net.Graph.Nodes[i]
	x, y := &p.Net.Values[n.In[0]], &p.Net.Values[n.Out[0]]
	index := make([][]int, len(y.Dims))
	for d, size := range y.Dims {
		index[d] = upTo(0, 1, int(size))
	}
	for k, a := range axes {
		if cells[k].Out != len(index[a]) {
			return nil
		}
		var room [4]ref.Cell
		for j := range index[a] {
			c := cells[k].Cells(room[:0], j)
			if len(c) != 1 {
				return nil
			}
			index[a][j] = c[0].Index
		}
	}
	found := tablePatch(p, i, index, make([]byte, x.Type.DType.Bits()/8))
	found.Tables = tables
	return found
}

// resizeAxis turns the cells of one axis into the kernel's form; ok is false when an output cell has other than one or
// two, or weights that do not add up to one.
func resizeAxis(r *ref.Resampler) (a kernel.Axis, ok bool) {
	a = kernel.Axis{First: make([]int32, r.Out), Second: make([]int32, r.Out), Weight: make([]float32, r.Out)}
	var room [4]ref.Cell
	for k := range a.First {
		c := r.Cells(room[:0], k)
		switch {
		case len(c) == 1 && c[0].Weight == 1: // halves, so that no weight is 0: it would make NaN of an infinity
			a.First[k], a.Second[k], a.Weight[k] = int32(c[0].Index), int32(c[0].Index), 0.5
		case len(c) == 2 && c[0].Weight+c[1].Weight-1 < 1e-9 && 1-c[0].Weight-c[1].Weight < 1e-9:
			a.First[k], a.Second[k], a.Weight[k] = int32(c[0].Index), int32(c[1].Index), float32(c[1].Weight)
		default:
			return a, false
		}
	}
	return a, true
}

// identityAxis is the axis of n cells that stay as they are.
func identityAxis(n int) kernel.Axis {
	a := kernel.Axis{First: make([]int32, n), Weight: make([]float32, n)}
	for i := range a.First {
		a.First[i], a.Weight[i] = int32(i), 0.5
	}
	a.Second = a.First
	return a
}

// unchanged reports whether an axis of n cells stays as it is.
func unchanged(a *kernel.Axis, n int) bool {
	if len(a.First) != n {
		return false
	}
	for i, x := range a.First {
		if int(x) != i || a.Second != nil && a.Second[i] != x {
			return false
		}
	}
	return true
}

func (t *resizeTask) Run(s *run.State) error {
	t.X, t.LDX = s.Rows(t.st.Reads[0], t.C)
	t.Y, t.LDY = s.Rows(t.st.Writes[0], t.C)
	if t.chunks == 0 { // it looks at every coordinate; the operands of later runs are as long
		t.chunks = t.Plan(s.Threads)
	}
	s.Do(t.chunks, t)
	return nil
}

// Chunk computes some rows.
func (t *resizeTask) Chunk(i, _ int) { t.Resize.Chunk(i) }
