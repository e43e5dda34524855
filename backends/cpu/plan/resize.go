package plan

import (
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

type resizeTask struct {
	st     *step
	chunks int // 0: not planned yet
	kernel.Resize
}

// resizeOp resizes the two spatial dimensions of images.
type resizeOp struct {
	inOrder
	kernel kernel.Resize
}

// matchResize finds nearest and bilinear resizing of the two spatial dimensions of images.
func matchResize(p *program, i int) *patch {
	g, n := p.net, &p.net.graph.Nodes[i]
	o, is := n.Op.(*op.Resize)
	if !is || o.Mode == op.ResizeCubic || !g.isFloat32(n.In[0], n.Out[0]) || len(g.values[n.In[0]].dims) != 4 {
		return nil
	}
	x, y := &g.values[n.In[0]], &g.values[n.Out[0]]
	in := make([]tensor.Tensor, len(n.In))
	in[0] = tensor.Tensor{DType: tensor.Float32, Dims: x.dims}
	for k := 1; k < len(n.In); k++ {
		if !given(n.In, k) {
			continue
		}
		v := &g.values[n.In[k]]
		if v.data == nil || v.dims == nil {
			return nil
		}
		in[k] = tensor.Tensor{DType: v.typ.DType, Dims: v.dims, Data: v.data}
		if v.count() == 0 {
			in[k] = tensor.Tensor{}
		}
	}
	axes, err := o.ResolveAxes(4)
	if err != nil {
		return nil
	}
	tables := int64(0) // lists and weights
	for d := range y.dims {
		if tables += saturated(160, int(y.dims[d])); !g.budget.allows(tables) {
			return nil
		}
	}
	cells, err := ref.ResizeCells(o, in, axes)
	if err != nil {
		return nil
	}
	lists := [4]*kernel.Axis{}
	for i, a := range axes {
		list, ok := resizeAxis(cells[i], o.Mode == op.ResizeLinear)
		if !ok || len(list.First) != int(y.dims[a]) {
			return nil
		}
		lists[a] = &list
	}
	for d := range lists {
		if lists[d] == nil {
			same := identityAxis(int(x.dims[d]), o.Mode == op.ResizeLinear)
			lists[d] = &same
		}
	}
	images, h, w, c := nhwc, 2, 3, 1 // the channels are dimension 1
	if !unchanged(lists[c], int(x.dims[c])) {
		images, h, w, c = nchw, 1, 2, 3
	}
	if !unchanged(lists[0], int(x.dims[0])) || !unchanged(lists[c], int(x.dims[c])) {
		return nil
	}
	k := kernel.Resize{
		C: int(x.dims[c]), Batch: int(x.dims[0]), In: [2]int{int(x.dims[h]), int(x.dims[w])}, Rows: *lists[h],
		Cols: *lists[w],
	}
	found := p.plainly(i, &resizeOp{inOrder{images}, k}, 1)
	found.tables = tables
	return found
}

func (q *resizeOp) lower(*lowering, *node) step {
	k := q.kernel
	return step{fast: true, inCols: []int{k.C}, outCols: []int{k.C},
		start: func(_ *State, st *step) process { return &resizeTask{st: st, Resize: k} }}
}

// resizeAxis turns the cells of one axis into the kernel's form; ok is false when an output cell has other than one or
// two, or weights that do not add up to one.
func resizeAxis(cells [][]ref.Cell, linear bool) (a kernel.Axis, ok bool) {
	for _, c := range cells {
		switch {
		case !linear && len(c) == 1:
			a.First = append(a.First, int32(c[0].Index))
		case linear && len(c) == 1 && c[0].Weight == 1: // halves, so that no weight is 0: it would make NaN of an infinity
			a.First, a.Second = append(a.First, int32(c[0].Index)), append(a.Second, int32(c[0].Index))
			a.Weight = append(a.Weight, 0.5)
		case linear && len(c) == 2 && c[0].Weight+c[1].Weight-1 < 1e-9 && 1-c[0].Weight-c[1].Weight < 1e-9:
			a.First, a.Second = append(a.First, int32(c[0].Index)), append(a.Second, int32(c[1].Index))
			a.Weight = append(a.Weight, float32(c[1].Weight))
		default:
			return a, false
		}
	}
	return a, true
}

func identityAxis(n int, linear bool) kernel.Axis {
	cells := make([][]ref.Cell, n)
	for i := range cells {
		cells[i] = []ref.Cell{{Index: i, Weight: 1}}
	}
	a, _ := resizeAxis(cells, linear)
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

func (t *resizeTask) run(s *State) error {
	t.X, t.LDX = s.rows(t.st.reads[0], t.C)
	t.Y, t.LDY = s.rows(t.st.writes[0], t.C)
	if t.chunks == 0 { // it looks at every coordinate; the operands of later runs are as long
		t.chunks = t.Plan(s.threads)
	}
	s.do(t.chunks, t)
	return nil
}

// Chunk computes some rows.
func (t *resizeTask) Chunk(i, _ int) { t.Resize.Chunk(i) }
