package opcase

import (
	"slices"

	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// NNAPI are cases in forms that Android's API has, beside Shared.
func NNAPI() []Case {
	return slices.Concat(nnapiPlain(), nnapiImages(), nnapiRecurrent(), nnapiDetection(), nnapiFound(), nnapiControl())
}

// nnapiPlain are the cases of tensors of any rank.
func nnapiPlain() []Case {
	codes := func(scale float32, dims ...int64) Operand { return Quantized(tensor.Int8, scale, dims...) }
	bytes := func(scale float32, dims ...int64) Operand { return Quantized(tensor.Uint8, scale, dims...) }
	halves := func(dims ...int64) Operand { return Of(tensor.Float16, dims...) }
	bias := func(n int64) Operand { return Fixed(Integers(n)) }
	channels := func(axis int, dims ...int64) Operand {
		o := Of(tensor.Int8, dims...)
		o.Type.Quant = &tensor.Quant{Axis: axis}
		for i := range dims[axis] {
			o.Type.Quant.Scale = append(o.Type.Quant.Scale, 0.25+float32(i)/8)
		}
		return Fixed(o)
	}
	images := &op.Conv{Groups: 1, ChannelsLast: true}
	return []Case{
		One(&op.Div{Rounding: op.DivFloor}, Integers(4), Operand{Type: tensor.T(tensor.Int32, 4),
			Constant: tensor.Int32s(1, 2, -2, 3)}),
		One(&op.Max{}, Integers(2, 3), Integers(3)),
		One(&op.PRelu{}, X, Fixed(Real(4))),
		One(&op.Elu{Alpha: 0.5}, X),
		One(&op.Elu{Alpha: 0.5}, halves(2, 3)),
		One(&op.Clip{}, X, Bound(-1), Bound(1)),
		One(&op.Clip{}, bytes(0.25, 2, 3), Bound(0), Bound(6)),
		One(&op.Convert{}, Real(2, 3)).To(bytes(0.125, 2, 3)),
		One(&op.Convert{}, Real(2, 3)).To(codes(0.125, 2, 3)),
		One(&op.Convert{}, codes(0.5, 2, 3)).To(Real(2, 3)),
		One(&op.Convert{}, Real(2, 3)).To(halves(2, 3)),
		One(&op.Where{}, Bools(2, 3, 4), X, Real(2, 3, 4)),
		One(&op.Add{}, codes(0.5, 2, 3), codes(0.25, 3)),
		One(&op.Mul{}, bytes(0.5, 2, 3), bytes(0.25, 3)).To(bytes(0.5, 2, 3)),
		One(&op.Add{}, halves(2, 3), halves(3)),
		One(&op.Conv{Groups: 4, ChannelsLast: true, Dilations: []int64{1, 2}}, Last, Fixed(Real(4, 2, 2, 1))),
		One(&op.Conv{Groups: 4, ChannelsLast: true}, Last, Real(8, 2, 2, 1)),
		One(images, codes(0.5, 1, 5, 5, 2), Fixed(codes(0.25, 3, 2, 2, 2))).To(codes(2, 1, 4, 4, 3)),
		One(images, codes(0.5, 1, 5, 5, 2), channels(0, 3, 2, 2, 2), bias(3)).To(codes(2, 1, 4, 4, 3)),
		One(&op.Conv{Groups: 2, ChannelsLast: true}, bytes(0.5, 1, 5, 5, 2), channels(0, 4, 2, 2, 1),
			bias(4)).To(bytes(2, 1, 4, 4, 4)),
		One(&op.AveragePool{Kernel: []int64{2, 2}, Strides: []int64{2, 2}, Ceil: op.RoundCeil}, First),
		One(&op.FullyConnected{}, Real(2, 3, 4), Fixed(Real(5, 4))),
		One(&op.FullyConnected{}, Real(4), Fixed(Real(5, 4))),
		One(&op.FullyConnected{}, bytes(0.5, 3, 4), Fixed(bytes(0.25, 5, 4)), bias(5)).To(bytes(4, 3, 5)),
		One(&op.MatMul{TransposeA: true}, Real(2, 4, 3), Real(2, 4, 5)),
		One(&op.MatMul{TransposeA: true}, Real(4, 3), Real(4, 5)),
		One(&op.MatMul{}, Real(2, 3, 4), Fixed(Real(4, 5)), Fixed(Real(5))),
		One(&op.Unsqueeze{}, X, Numbers(0)),
		One(&op.Transpose{}, codes(0.5, 2, 3)),
		One(&op.Pad{}, X, Numbers(0, 1, 0, 2, 0, 1)),
		One(&op.Gather{NegativeWraps: true}, X, Numbers(-1, 0), Numbers(1)),
		One(&op.Gather{}, X, Numbers(1, 0, 1)),
		One(&op.Softmax{Axis: -1, Beta: 2}, X),
		One(&op.ReduceMean{}, codes(0.5, 2, 3), Numbers(0)),
		One(&op.ReduceSum{}, X, Numbers(0, 1, 2)),
		One(&op.ReduceAll{}, Bools(2, 3), Numbers(1)),
		One(&op.ReduceAny{KeepDims: true}, Bools(2, 3), Numbers(1)),
		One(&op.Slice{}, X, Numbers(-1, 0), Numbers(-100, 4), Numbers(1, 2), Numbers(-1, 3)),
		One(&op.Slice{}, X, Numbers(2), Numbers(-100), Numbers(1), Numbers(-1)),
		One(&op.Slice{}, codes(0.5, 2, 9), Numbers(7), Numbers(1), Numbers(-1), Numbers(-2)),
		One(&op.StridedSlice{BeginMask: 1, EndMask: 2, ShrinkAxisMask: 4}, X, Numbers(1, 0, -1),
			Numbers(2, 1, 9), Numbers(1, 2, 1)),
		One(&op.StridedSlice{}, X, Numbers(1), Numbers(2), Numbers(1)),
		One(&op.Pad{}, X, Numbers(1, 2), Bound(-1), Numbers(-1)),
		One(&op.Pad{Mode: op.PadReflect}, X, Numbers(1, 0, 2, 0, 1, 3)),
		One(&op.Pad{Mode: op.PadSymmetric}, Integers(2, 3), Numbers(2, 3, 0, 1)),
		One(&op.Pad{}, codes(0.5, 2, 3), Numbers(1, 1, 0, 2)),
		One(&op.Pad{}, bytes(0.5, 2, 3), Numbers(1, 1, 0, 2), Operand{Type: tensor.T(tensor.Uint8),
			Constant: []byte{7}}),
		One(&op.TopK{Axis: -1, SelectLast: true, To: tensor.Int32}, X, Numbers(2)).Gives(2),
		One(&op.TopK{Axis: 0, SelectLast: true, To: tensor.Int32}, codes(0.5, 5), Numbers(3)).Gives(2),
		One(&op.TopK{SelectLast: true}, X, Numbers(2)),
		One(&op.ArgMax{Axis: 1, To: tensor.Int32}, X),
		One(&op.ArgMax{Axis: -2, KeepDims: true, To: tensor.Int32}, codes(0.5, 2, 3, 2)),
		One(&op.ArgMin{Axis: -1, To: tensor.Int32}, Real(7)),
		One(&op.Split{Axis: -1}, X).Gives(2),
		One(&op.Split{Axis: 1}, X, Numbers(1, 2)).Gives(2),
		One(&op.Expand{}, Real(3, 1), Numbers(2, 1, 4)),
		One(&op.Expand{}, Integers(3), Numbers(2, 3)),
		One(&op.L2Normalize{Epsilon: 1e-12}, X, Numbers(1)),
		One(&op.L2Normalize{Epsilon: 1e-12}, Last, Numbers(-1)),
		One(&op.LRN{Before: 1, After: 1, Alpha: 0.5, Beta: 0.75, Bias: 1, Axis: 1, DivideAlpha: true}, First),
		One(&op.LRN{Before: 2, After: 2, Alpha: 0.5, Beta: 0.5, Bias: 2, Axis: -1}, X),
		One(&op.BatchNorm{Epsilon: 1e-3, Axis: 1}, First, Fixed(Real(4)), Fixed(Real(4)),
			Fixed(Real(4)), Positive(Real(4))),
		One(&op.BatchNorm{Epsilon: 1e-3, Axis: 1}, X, Fixed(Real(3)), Fixed(Real(3)),
			Fixed(Real(3)), Positive(Real(3))),
		One(&op.InstanceNorm{Epsilon: 1e-3, Axis: 1}, First, Fixed(Real(4)), Fixed(Real(4))),
		One(&op.InstanceNorm{Epsilon: 1e-3, Axis: -1}, Last, uniform(0.5, 4), uniform(-1, 4)),
		One(&op.LayerNorm{Axis: 1, Epsilon: 1e-3}, X, Fixed(Real(3, 4)), Real(4)).Gives(3),
		One(&op.LayerNorm{Axis: -1, Epsilon: 1e-3}, X),
		One(&op.RMSNorm{Axis: -1, Epsilon: 1e-3}, X, Fixed(Real(4))),
	}
}

// uniform is a constant whose n numbers are all the same.
func uniform(x float32, n int) Operand {
	return Operand{Type: tensor.T(tensor.Float32, int64(n)), Constant: tensor.Float32s(slices.Repeat([]float32{x}, n)...)}
}
