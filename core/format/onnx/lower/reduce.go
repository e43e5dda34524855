package lower

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// reduce lowers a reduction: axes are an attribute in older opsets and an input in newer ones.
func reduce(f func(keep, emptyKeeps bool) graph.Op) lowering {
	return func(n *node) error {
		o := f(n.int("keepdims", 1) != 0, n.int("noop_with_empty_axes", 0) != 0)
		if axes := n.axesInput(1, "axes"); axes != graph.None {
			return n.emit(o, n.arg(0), axes)
		}
		return n.emit(o, n.arg(0))
	}
}

var reduceOperators = []Operator{
	{"", "ReduceSum", 1, reduce(func(k, e bool) graph.Op { return &op.ReduceSum{KeepDims: k, EmptyAxesKeep: e} })},
	{"", "ReduceMean", 1, reduce(func(k, e bool) graph.Op { return &op.ReduceMean{KeepDims: k, EmptyAxesKeep: e} })},
	{"", "ReduceMax", 1, reduce(func(k, e bool) graph.Op { return &op.ReduceMax{KeepDims: k, EmptyAxesKeep: e} })},
	{"", "ReduceMin", 1, reduce(func(k, e bool) graph.Op { return &op.ReduceMin{KeepDims: k, EmptyAxesKeep: e} })},
	{"", "ReduceProd", 1, reduce(func(k, e bool) graph.Op { return &op.ReduceProd{KeepDims: k, EmptyAxesKeep: e} })},
	{"", "ReduceL1", 1, reduce(func(k, e bool) graph.Op { return &op.ReduceL1{KeepDims: k, EmptyAxesKeep: e} })},
	{"", "ReduceL2", 1, reduce(func(k, e bool) graph.Op { return &op.ReduceL2{KeepDims: k, EmptyAxesKeep: e} })},
	{"", "ReduceLogSum", 1, reduce(func(k, e bool) graph.Op { return &op.ReduceLogSum{KeepDims: k, EmptyAxesKeep: e} })},
	{"", "ReduceLogSumExp", 1, reduce(func(k, e bool) graph.Op {
		return &op.ReduceLogSumExp{KeepDims: k, EmptyAxesKeep: e}
	})},
	{"", "ReduceSumSquare", 1, reduce(func(k, e bool) graph.Op {
		return &op.ReduceSumSquare{KeepDims: k, EmptyAxesKeep: e}
	})},
	{"", "ArgMax", 1, withAttrs(func(n *node) graph.Op {
		return &op.ArgMax{Axis: n.int("axis", 0), KeepDims: n.int("keepdims", 1) != 0, SelectLast: n.int("select_last_index",
			0) != 0}
	})},
	{"", "ArgMin", 1, withAttrs(func(n *node) graph.Op {
		return &op.ArgMin{Axis: n.int("axis", 0), KeepDims: n.int("keepdims", 1) != 0, SelectLast: n.int("select_last_index",
			0) != 0}
	})},
	{"", "CumSum", 11, withAttrs(func(n *node) graph.Op {
		return &op.CumSum{Exclusive: n.int("exclusive", 0) != 0, Reverse: n.int("reverse", 0) != 0}
	})},
	{"", "CumProd", 26, withAttrs(func(n *node) graph.Op {
		return &op.CumProd{Exclusive: n.int("exclusive", 0) != 0, Reverse: n.int("reverse", 0) != 0}
	})},
	{"", "TopK", 1, lowerTopK},
	{"", "Softmax", 1, flattened(func(axis int64) graph.Op { return &op.Softmax{Axis: axis} })},
	{"", "LogSoftmax", 1, flattened(func(axis int64) graph.Op { return &op.LogSoftmax{Axis: axis} })},
	{"", "Hardmax", 1, flattened(func(axis int64) graph.Op { return &op.Hardmax{Axis: axis} })},
}

func lowerTopK(n *node) error {
	o := &op.TopK{Axis: n.int("axis", -1), Smallest: n.int("largest", 1) == 0}
	if n.version >= 10 {
		return n.emit(o, n.in...)
	}
	a := n.p.Attrs["k"]
	if a == nil {
		return fault.New(fault.File, "attribute k is missing")
	}
	return n.emit(o, n.arg(0), n.b.Int64s(a.I))
}

// flattened lowers Softmax and its relatives. Before opset 13 they work on the input flattened to two dimensions at
// axis (default 1).
func flattened(f func(axis int64) graph.Op) lowering {
	return func(n *node) error {
		if n.version >= 13 {
			return n.emit(f(n.int("axis", -1)), n.in...)
		}
		axis := n.int("axis", 1)
		r, err := n.rank(0)
		if err != nil {
			return err
		}
		if axis == int64(r-1) || axis == -1 {
			return n.emit(f(-1), n.in...)
		}
		shape := n.b.Add(&op.Shape{}, n.arg(0))
		flat := n.b.Add(f(-1), n.b.Add(&op.Flatten{Axis: axis}, n.arg(0)))
		return n.emit(&op.Reshape{}, flat, shape)
	}
}
