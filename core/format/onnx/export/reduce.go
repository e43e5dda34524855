package export

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// reducing is the rule of a reduction by the ONNX operator of that name.
func reducing[O graph.Op](name string, flags func(o O) (keep, emptyKeeps bool)) rule {
	return on(func(n *node, o O) error {
		keep, empty := flags(o)
		d := n.dtype(0)
		switch name {
		case "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMean": // of integers as real numbers
			if d.IsInt() {
				return n.truncated(func(x string) string { return n.reduce(name, x, keep, empty) })
			}
		case "ReduceMax", "ReduceMin":
			if d == tensor.Bool {
				return n.set(0, n.reduce(name, n.cast(n.x(0), tensor.Int32), keep, empty), tensor.Int32)
			}
		}
		x, d := n.wide(0)
		return n.set(0, n.reduce(name, x, keep, empty), d)
	})
}

// reduce reduces x along the axes of input 1.
func (n *node) reduce(name, x string, keep, emptyKeeps bool) string {
	attrs := []attr{flag("keepdims", keep)}
	if emptyKeeps {
		attrs = append(attrs, number("noop_with_empty_axes", 1))
	}
	return n.one(name, []string{x, n.vector(1)}, attrs...)
}

func reduceRules() []rule {
	return []rule{
		reducing("ReduceSum", func(o *op.ReduceSum) (bool, bool) { return o.KeepDims, o.EmptyAxesKeep }),
		reducing("ReduceMean", func(o *op.ReduceMean) (bool, bool) { return o.KeepDims, o.EmptyAxesKeep }),
		reducing("ReduceMax", func(o *op.ReduceMax) (bool, bool) { return o.KeepDims, o.EmptyAxesKeep }),
		reducing("ReduceMin", func(o *op.ReduceMin) (bool, bool) { return o.KeepDims, o.EmptyAxesKeep }),
		reducing("ReduceProd", func(o *op.ReduceProd) (bool, bool) { return o.KeepDims, o.EmptyAxesKeep }),
		reducing("ReduceL1", func(o *op.ReduceL1) (bool, bool) { return o.KeepDims, o.EmptyAxesKeep }),
		reducing("ReduceL2", func(o *op.ReduceL2) (bool, bool) { return o.KeepDims, o.EmptyAxesKeep }),
		reducing("ReduceLogSum", func(o *op.ReduceLogSum) (bool, bool) { return o.KeepDims, o.EmptyAxesKeep }),
		reducing("ReduceLogSumExp", func(o *op.ReduceLogSumExp) (bool, bool) { return o.KeepDims, o.EmptyAxesKeep }),
		reducing("ReduceSumSquare", func(o *op.ReduceSumSquare) (bool, bool) { return o.KeepDims, o.EmptyAxesKeep }),
		on(func(n *node, o *op.ReduceAny) error {
			n.put(0, n.cast(n.reduce("ReduceSum", n.cast(n.truth(0), tensor.Int32), o.KeepDims, o.EmptyAxesKeep), tensor.Bool))
			return nil
		}),
		on(func(n *node, o *op.ReduceAll) error { // no element is false
			x := n.cast(n.one("Not", []string{n.truth(0)}), tensor.Int32)
			n.put(0, n.one("Equal", []string{n.reduce("ReduceSum", x, o.KeepDims, o.EmptyAxesKeep), n.number(tensor.Int32, 0)}))
			return nil
		}),
		on(func(n *node, o *op.CumSum) error { return n.running("CumSum", o.Exclusive, o.Reverse) }),
		on(func(n *node, o *op.CumProd) error {
			n.needs(26)
			return n.running("CumProd", o.Exclusive, o.Reverse)
		}),
		on(func(n *node, o *op.Softmax) error { return n.softmax("Softmax", o.Axis, o.Beta) }),
		on(func(n *node, o *op.LogSoftmax) error { return n.softmax("LogSoftmax", o.Axis, o.Beta) }),
		on(func(n *node, o *op.Hardmax) error { return n.plain("Hardmax", n.xs(), number("axis", o.Axis)) }),
	}
}

func (n *node) running(name string, exclusive, reverse bool) error {
	x, d := n.wide(0)
	return n.set(0, n.one(name, []string{x, n.scalar(1)}, flag("exclusive", exclusive), flag("reverse", reverse)), d)
}

func (n *node) softmax(name string, axis int64, beta float32) error {
	x := n.x(0)
	if beta != 0 && beta != 1 {
		x = n.one("Mul", []string{x, n.number(n.dtype(0), float64(beta))})
	}
	return n.plain(name, []string{x}, number("axis", axis))
}
