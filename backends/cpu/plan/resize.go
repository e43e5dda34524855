package plan

import (
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

type resizeTask struct {
	st     *step
	chunks int // 0: not planned yet
	kernel.Resize
}

// resize adds nearest and bilinear resizing of the two spatial dimensions of images.
func (b *builder) resize(n *graph.Node, o *op.Resize) bool {
	x, y := &b.values[n.In[0]], &b.values[n.Out[0]]
	if !x.fast() || !y.fast() || len(x.dims) != 4 || o.Mode == op.ResizeCubic {
		return false
	}
	in := make([]tensor.Tensor, len(n.In))
	in[0] = tensor.Tensor{DType: tensor.Float32, Dims: x.dims}
	for k := 1; k < len(n.In); k++ {
		if !given(n.In, k) {
			continue
		}
		v := &b.values[n.In[k]]
		if v.data == nil || v.dims == nil {
			return false
		}
		in[k] = tensor.Tensor{DType: v.typ.DType, Dims: v.dims, Data: v.data}
		if v.typ.DType == tensor.Float32 {
			in[k].Data = b.aligned(n.In[k])
		}
		if v.count() == 0 {
			in[k] = tensor.Tensor{}
		}
	}
	axes, err := o.ResolveAxes(4)
	if err != nil {
		return false
	}
	for d := range y.dims {
		if !b.table(saturated(160, int(y.dims[d]))) { // lists and weights
			return false
		}
	}
	cells, err := ref.ResizeCells(o, in, axes)
	if err != nil {
		return false
	}
	lists := [4]*kernel.Axis{}
	for i, a := range axes {
		list, ok := resizeAxis(cells[i], o.Mode == op.ResizeLinear)
		if !ok || len(list.First) != int(y.dims[a]) {
			return false
		}
		lists[a] = &list
	}
	for d := range lists {
		if lists[d] == nil {
			same := identityAxis(int(x.dims[d]), o.Mode == op.ResizeLinear)
			lists[d] = &same
		}
	}
	last := true // the channels are dimension 1
	h, w, c := 2, 3, 1
	if !unchanged(lists[c], int(x.dims[c])) {
		last, h, w, c = false, 1, 2, 3
	}
	if !unchanged(lists[0], int(x.dims[0])) || !unchanged(lists[c], int(x.dims[c])) {
		return false
	}
	k := kernel.Resize{
		C: int(x.dims[c]), Batch: int(x.dims[0]), In: [2]int{int(x.dims[h]), int(x.dims[w])}, Rows: *lists[h],
		Cols: *lists[w],
	}
	s := step{fast: true, reads: []int{b.form(n.In[0], last)}, inCols: []int{k.C}, outCols: []int{k.C}}
	s.writes = []int{b.make(n.Out[0], last)}
	s.start = func(_ *State, st *step) process { return &resizeTask{st: st, Resize: k} }
	b.add(s)
	return true
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
