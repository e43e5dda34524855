package ohnn

import (
	"math"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	lowerAll(map[string]func(n *node) error{
		"BATCH_NORM": func(n *node) error {
			return n.emit(&op.BatchNorm{Epsilon: n.float("EPSILON", 1e-4), Axis: -1}, n.ins()...)
		},
		"LAYER_NORM": func(n *node) error {
			return n.emit(&op.LayerNorm{Axis: n.int("BEGIN_NORM_AXIS", 1), Epsilon: n.float("EPSILON", 1e-7)}, n.ins()...)
		},
		"INSTANCE_NORM": lowerInstanceNorm,
		"L2_NORMALIZE":  lowerL2Normalize,
		"LRN": func(n *node) error {
			if err := n.wantWithin("DEPTH_RADIUS", 0, 0, math.MaxInt32); err != nil {
				return err
			}
			r := n.int("DEPTH_RADIUS", 0)
			return n.emit(&op.LRN{Before: r, After: r, Alpha: n.float("ALPHA", 0), Beta: n.float("BETA", 0),
				Bias: n.float("BIAS", 0), Axis: -1}, n.in(0))
		},
	})
}

// lowerInstanceNorm: the channels are the dimension that scale is as long as, dimension 1 before the last one.
func lowerInstanceNorm(n *node) error {
	if err := n.wantRank(0, 2, -1); err != nil {
		return err
	}
	if err := n.wantRank(1, 1, 1); err != nil {
		return err
	}
	x, scale := n.fact(0).Shape, n.fact(1).Shape
	axis := 1
	if c, last := scale.Dims[0], x.Dims[x.Rank()-1]; c.Known() && x.Dims[1].Known() && x.Dims[1].N != c.N &&
		(!last.Known() || last.N == c.N) {
		axis = x.Rank() - 1
	}
	return n.emit(&op.InstanceNorm{Epsilon: n.float("EPSILON", 0), Axis: int64(axis)}, n.ins()...)
}

// lowerL2Normalize: without axes over the whole tensor.
func lowerL2Normalize(n *node) error {
	in := []graph.Value{n.in(0)}
	if axes := n.ints("AXIS"); len(axes) > 0 {
		in = append(in, n.param("AXIS", axes...))
	}
	return n.emitFused(n.int("ACTIVATION_TYPE", 0), &op.L2Normalize{Epsilon: n.float("EPSILON", 1e-6), Mode: op.EpsMax},
		in...)
}

// zero returns the scalar 0 of type t, for a quantized type its zero point.
func (n *node) zero(t tensor.Type) graph.Value {
	size, _ := t.DType.ByteSize(1)
	data := make([]byte, size)
	if t.Quant.IsPerTensor() {
		data[0] = byte(t.Quant.ZeroAt(0))
	}
	return n.b.Const("", tensor.Type{DType: t.DType, Shape: tensor.Of(), Quant: t.Quant}, data)
}
