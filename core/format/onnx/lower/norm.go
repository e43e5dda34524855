package lower

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

var normOperators = []Operator{
	{"", "BatchNormalization", 7, lowerBatchNorm},
	{"", "InstanceNormalization", 6, withAttrs(func(n *node) graph.Op {
		return &op.InstanceNorm{Epsilon: n.float("epsilon", 1e-5),
			Axis: 1}
	})},
	{"", "LayerNormalization", 17, lowerLayerNorm},
	{"", "GroupNormalization", 18, lowerGroupNorm},
	{"", "RMSNormalization", 23, withAttrs(func(n *node) graph.Op {
		return &op.RMSNorm{Axis: n.int("axis", -1), Epsilon: n.float("epsilon", 1e-5)}
	})},
	{"", "LpNormalization", 1, withAttrs(func(n *node) graph.Op {
		return &op.LpNorm{Axis: n.int("axis", -1),
			P: n.int("p", 2)}
	})},
	{"", "LRN", 1, lowerLRN},
	{"", "MeanVarianceNormalization", 9, lowerMeanVariance},
}

func lowerBatchNorm(n *node) error {
	if n.int("training_mode", 0) != 0 {
		return fault.New(fault.Unsupported, "training mode")
	}
	return n.emit(&op.BatchNorm{Epsilon: n.float("epsilon", 1e-5), Axis: 1}, n.in...)
}

// lowerLayerNorm: mean and deviation are of the type that stash_type names, whatever x is.
func lowerLayerNorm(n *node) error {
	stash, err := n.dtype("stash_type")
	if err != nil {
		return err
	}
	if stash == tensor.Invalid {
		stash = tensor.Float32
	}
	if err := n.emit(&op.LayerNorm{Axis: n.int("axis", -1), Epsilon: n.float("epsilon", 1e-5)}, n.in...); err != nil {
		return err
	}
	for i := 1; i < len(n.out); i++ {
		if n.asks(i) && n.b.Fact(n.out[i]).DType != stash {
			n.out[i] = n.b.Add(&op.Cast{To: stash}, n.out[i])
		}
	}
	return n.b.Err()
}

// lowerGroupNorm: before opset 21 scale and bias have one entry a group, since then one a channel.
func lowerGroupNorm(n *node) error {
	if err := n.want(3, 3); err != nil {
		return err
	}
	groups := n.int("num_groups", 0)
	in := []graph.Value{n.arg(0), n.arg(1), n.arg(2)}
	if n.version < 21 {
		s := n.fact(0).Shape
		if groups <= 0 || s.Rank() >= 0 && (s.Rank() < 2 || s.Dims[1].Known() && s.Dims[1].N%groups != 0) {
			return fault.New(fault.Shape, "%d groups of %v", groups, s)
		}
		per := n.b.Int64s(1) // repetitions of one entry
		if s.Rank() >= 0 && s.Dims[1].Known() {
			per = n.b.Int64s(1, s.Dims[1].N/groups)
		} else {
			channels := n.b.Add(&op.Slice{}, n.b.Add(&op.Shape{}, in[0]), n.b.Int64s(1), n.b.Int64s(2), n.b.Int64s(0))
			per = n.b.Add(&op.Concat{}, per, n.b.Add(&op.Div{}, channels, n.b.Int64s(groups)))
		}
		for i := 1; i <= 2; i++ {
			v := n.b.Add(&op.Unsqueeze{}, in[i], n.b.Int64s(1))
			v = n.b.Add(&op.Tile{}, v, per)
			in[i] = n.b.Add(&op.Reshape{}, v, n.b.Int64s(-1))
		}
	}
	return n.emit(&op.GroupNorm{Groups: groups, Epsilon: n.float("epsilon", 1e-5)}, in...)
}

// lowerLRN: size channels around each, an even size has the longer side after it; alpha is divided by size.
func lowerLRN(n *node) error {
	size := n.int("size", 0)
	if size < 1 {
		return fault.New(fault.File, "attribute size: %d", size)
	}
	return n.emit(&op.LRN{Before: (size - 1) / 2, After: size / 2, Alpha: n.float("alpha", 1e-4),
		Beta: n.float("beta", 0.75), Bias: n.float("bias", 1), Axis: 1, DivideAlpha: true}, n.in...)
}

// lowerMeanVariance is (x - mean) / (sqrt(mean((x - mean)^2)) + 1e-9), as the operator's specification defines it. The
// body that it also gives takes the variance as mean(x^2) - mean^2, which leaves no digits where the mean is large
// beside the deviation. The mean is taken twice: the second is the rounding error of the first.
func lowerMeanVariance(n *node) error {
	axes := n.ints("axes")
	if n.p.Attrs["axes"] == nil {
		axes = []int64{0, 2, 3}
	}
	over := n.b.Int64s(axes...)
	mean := func(x graph.Value) graph.Value { return n.b.Add(&op.ReduceMean{KeepDims: true}, x, over) }
	x := n.arg(0)
	d := n.b.Add(&op.Sub{}, x, mean(x))
	d = n.b.Add(&op.Sub{}, d, mean(d))
	dev := n.b.Add(&op.Sqrt{}, mean(n.b.Add(&op.Square{}, d)))
	eps, err := n.scalarLike(0, 1e-9)
	if err != nil {
		return err
	}
	return n.emit(&op.Div{}, d, n.b.Add(&op.Add{}, dev, eps))
}
