package plan

import (
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// parted returns the operators that together reduce as o does, one run of neighbouring axes after another: the first
// one, which the others follow; none when o is no reduction that can be parted.
func parted(o graph.Op) (first, next graph.Op) {
	switch o.(type) {
	case *op.ReduceSum:
		return &op.ReduceSum{KeepDims: true}, &op.ReduceSum{KeepDims: true}
	case *op.ReduceMean:
		return &op.ReduceMean{KeepDims: true}, &op.ReduceMean{KeepDims: true}
	case *op.ReduceMax:
		return &op.ReduceMax{KeepDims: true}, &op.ReduceMax{KeepDims: true}
	case *op.ReduceMin:
		return &op.ReduceMin{KeepDims: true}, &op.ReduceMin{KeepDims: true}
	case *op.ReduceL1:
		return &op.ReduceL1{KeepDims: true}, &op.ReduceSum{KeepDims: true}
	case *op.ReduceSumSquare:
		return &op.ReduceSumSquare{KeepDims: true}, &op.ReduceSum{KeepDims: true}
	}
	return nil, nil
}

// reduction is a reduction over axes that are neighbours in no order of dimensions.
func (e *expander) reduction() graph.Value {
	first, next := parted(e.from.Op)
	dims := e.dims(e.from.In[0])
	axes, known := e.axes()
	mask, err := op.AxisMask(axes, len(dims))
	e.ok = e.ok && known && err == nil
	if !e.ok || len(axes) == 0 || len(runs(mask, dims, run.NCHW)) < 2 || inNHWC(e.from.Op, mask, dims) {
		e.ok = false
		return graph.None
	}
	v, o := e.from.In[0], first
	for _, r := range slices.Backward(runs(mask, dims, run.NCHW)) {
		v, o = e.add(o, v, e.numbers(r...)), next
	}
	out, known := e.graph.Fact(e.from.Out[0]).Shape.Ints()
	if e.ok = e.ok && known; !e.ok {
		return graph.None
	}
	return e.shaped(v, out...)
}

// inNHWC reports whether there is a kernel for the axes of images in NHWC, in which they are neighbours.
func inNHWC(o graph.Op, mask []bool, dims []int64) bool {
	switch o.(type) {
	case *op.ReduceL1, *op.ReduceSumSquare:
		return false
	}
	return len(dims) > 2 && mask[1] && len(runs(mask, dims, run.NHWC)) == 1
}

// axes returns the axes of a reduction, known false when they are no constants.
func (e *expander) axes() (axes []int64, known bool) {
	if len(e.from.In) < 2 || e.from.In[1] == graph.None {
		return nil, true
	}
	f := e.graph.Fact(e.from.In[1])
	if f.Const == nil {
		return nil, false
	}
	n, _ := f.Shape.Count()
	axes, err := tensor.ReadInts(f.DType, f.Const.Data, int(n))
	return axes, err == nil
}

// runs are the reduced axes, those that are neighbours in an order together. Axes of one element separate none.
func runs(mask []bool, dims []int64, o run.Order) (runs [][]int64) {
	axes := make([]int64, len(dims))
	for d := range axes {
		axes[d] = int64(d)
	}
	open := false
	for _, d := range run.SizesIn(axes, o) {
		switch {
		case dims[d] == 1 && !mask[d]:
		case !mask[d]:
			open = false
		case open:
			runs[len(runs)-1] = append(runs[len(runs)-1], d)
		case dims[d] > 1:
			runs, open = append(runs, []int64{d}), true
		}
	}
	return runs
}
