package opcase

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// Inputs of many nodes: numbers, and images with their channels last and first.
var (
	X     = Real(2, 3, 4)
	Last  = Real(1, 6, 5, 4)
	First = Real(1, 4, 6, 5)
)

// Shared are cases that every device of graphs is expected to compute.
func Shared() []Case {
	list := []Case{
		One(&op.Div{}, X, Positive(Real(4))),
		One(&op.Max{}, X, Real(3, 1)),
		One(&op.Min{}, X, Real(4)),
		One(&op.Pow{}, Positive(X), Real(4)),
		One(&op.And{}, Bools(2, 3), Bools(3)),
		One(&op.Or{}, Bools(2, 3), Bools(3)),
		One(&op.Not{}, Bools(2, 3)),
		One(&op.LeakyRelu{Alpha: 0.25}, X),
		One(&op.Exp{}, X),
		One(&op.Clip{}, X, Bound(-1), Bound(0.75)),
		One(&op.Clip{}, X, Bound(0), Bound(6)),
		One(&op.Cast{To: tensor.Int32, OutOfRange: op.CastSaturate}, X),
		One(&op.Cast{To: tensor.Float32}, Integers(5)),
		One(&op.Relu{}, Quantized(tensor.Int8, 0.1, 2, 3)),
		One(&op.Conv{Groups: 1, ChannelsLast: true, Strides: []int64{2, 1}, Pads: []int64{1, 0, 0, 2}}, Last,
			Fixed(Real(3, 2, 3, 4)), Fixed(Real(3))),
		One(&op.Conv{Groups: 1, AutoPad: op.PadSameUpper, Dilations: []int64{2, 1}}, First, Fixed(Real(3, 2, 2, 4))),
		One(&op.Conv{Groups: 1, AutoPad: op.PadSameLower}, First, Fixed(Real(3, 2, 2, 4))),
		One(&op.Conv{Groups: 2, AutoPad: op.PadValid}, First, Fixed(Real(6, 2, 2, 2)), Fixed(Real(6))),
		One(&op.Conv{Groups: 4, Pads: []int64{1, 1, 1, 1}}, First, Fixed(Real(8, 3, 3, 1)), Fixed(Real(8))),
		One(&op.MaxPool{Kernel: []int64{2, 3}, Strides: []int64{2, 1}, Pads: []int64{1, 0, 0, 1}}, First),
		One(&op.MaxPool{Kernel: []int64{2, 2}, Strides: []int64{2, 2}, Ceil: op.RoundCeil}, First),
		One(&op.MaxPool{Global: true, ChannelsLast: true}, Last),
		One(&op.AveragePool{Kernel: []int64{3, 2}, Strides: []int64{1, 2}, AutoPad: op.PadSameUpper}, First),
		One(&op.AveragePool{Global: true}, First),
		One(&op.FullyConnected{}, Real(3, 4), Fixed(Real(5, 4)), Fixed(Real(5))),
		One(&op.FullyConnected{}, Real(3, 4), Real(5, 4)),
		One(&op.MatMul{TransposeB: true}, Real(3, 4), Fixed(Real(5, 4)), Fixed(Real(5))),
		One(&op.Identity{}, X),
		One(&op.Reshape{ZeroCopies: true}, X, Numbers(0, -1)),
		One(&op.Flatten{Axis: 2}, X),
		One(&op.Squeeze{}, Real(1, 3, 1), Numbers(-1)),
		One(&op.Transpose{}, X, Numbers(2, 0, 1)),
		One(&op.Concat{Axis: -2}, X, Real(2, 1, 4), Fixed(Real(2, 2, 4))),
		One(&op.Slice{}, X, Numbers(-3, 1), Numbers(100, -1), Numbers(1, 2)),
		One(&op.Pad{}, X, Numbers(0, 1, 0, 2, 0, 1), Bound(0.5)),
		One(&op.Pad{}, X, Numbers(1, 0, 2, 1), Bound(0.5), Numbers(-1, 0)),
		One(&op.Tile{}, X, Numbers(1, 2, 3)),
		One(&op.Softmax{Axis: 1}, X),
		One(&op.LogSoftmax{Axis: -1}, X),
		One(&op.ReduceMean{KeepDims: true}, X, Numbers(-1)),
		One(&op.ReduceSum{}, X, Numbers(0, 2)),
		One(&op.ReduceProd{}, X, Numbers(1)),
		One(&op.ReduceMax{}, X, Numbers(2)),
		One(&op.ReduceMin{KeepDims: true}, X, Numbers(0)),
	}
	list = append(list, Singles(&op.Abs{}, &op.Neg{}, &op.Floor{}, &op.Square{}, &op.Sin{}, &op.Sigmoid{}, &op.Tanh{},
		&op.Relu{}, &op.HardSwish{}, &op.Sqrt{}, &op.Rsqrt{}, &op.Reciprocal{}, &op.Log{})...)
	return append(list, Pairs(&op.Add{}, &op.Sub{}, &op.Mul{}, &op.Equal{}, &op.NotEqual{}, &op.Less{}, &op.LessEqual{},
		&op.Greater{}, &op.GreaterEqual{})...)
}

// Singles are operators of one number, and Pairs those of two numbers or integers.
func Singles(list ...graph.Op) (out []Case) {
	for _, o := range list {
		out = append(out, One(o, X))
	}
	return out
}

func Pairs(list ...graph.Op) (out []Case) {
	for _, o := range list {
		out = append(out, One(o, X, Real(3, 1)), One(o, Integers(2, 3), Integers(3)))
	}
	return out
}
