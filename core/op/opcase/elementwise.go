package opcase

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// elementwise are cases of functions of one element, or of elements at one place.
func elementwise() []Case {
	list := []Case{
		One(&op.Add{}, X, X),
		One(&op.Mul{}, X, X),
		One(&op.Sub{}, X, X),
		One(&op.Celu{Alpha: 0.75}, X),
		One(&op.Selu{Alpha: 1.5, Gamma: 1.25}, X),
		One(&op.Shrink{Lambda: 0.5, Bias: 0.25}, X),
		One(&op.Shrink{Lambda: 0.5, Bias: 1}, Integers(2, 3)),
		One(&op.ThresholdedRelu{Alpha: 0.75}, X),
		One(&op.IsInf{Negative: true, Positive: true}, X),
		One(&op.Xor{}, Bools(2, 3), Bools(3)),
		One(&op.BitShift{}, Of(tensor.Uint8, 2, 3), Of(tensor.Uint8, 3)),
		One(&op.BitShift{Right: true}, Integers(2, 3), Integers(3)),
		One(&op.BitwiseNot{}, Integers(2, 3)),
		One(&op.BitCast{To: tensor.Int32}, Real(2, 3)),
		One(&op.Quantize{To: tensor.Int8}, X, Bound(0.125), Given(Of(tensor.Int8), 3)),
		One(&op.Quantize{Axis: -1}, X, Positive(Real(4)), Given(Of(tensor.Uint8, 4), 3, 0, 9, 1)),
		One(&op.Dequantize{}, Of(tensor.Int8, 2, 3), Bound(0.125), Given(Of(tensor.Int8), 3)),
		One(&op.Dequantize{Axis: 1}, Of(tensor.Uint8, 2, 3), Positive(Real(3))),
		One(&op.DynamicQuantize{}, X).Gives(3),
		One(&op.Convert{}, Real(2, 3)).To(Quantized(tensor.Int8, 0.125, 2, 3)),
		One(&op.Cast{To: tensor.Int8, OutOfRange: op.CastSaturate}, X),
		One(&op.Cast{To: tensor.BFloat16}, X),
		One(&op.Assert{}, Given(Bools(2), 1, 1), X),
		One(&op.Declare{Sizes: []int64{2, -1, 4}}, X),
	}
	list = append(list, Singles(&op.Acos{}, &op.Acosh{}, &op.Asin{}, &op.Asinh{}, &op.Atan{}, &op.Atanh{}, &op.Cosh{},
		&op.Sinh{}, &op.Tan{}, &op.Sign{}, &op.Softplus{}, &op.Softsign{}, &op.Mish{}, &op.IsNaN{})...)
	for _, o := range []graph.Op{&op.BitwiseAnd{}, &op.BitwiseOr{}, &op.BitwiseXor{}} {
		list = append(list, One(o, Integers(2, 3), Integers(3)))
	}
	return list
}

// sums are cases of reductions and of operators that go along an axis.
func sums() []Case {
	axis := Given(Of(tensor.Int64), 1)
	return []Case{
		One(&op.ReduceL1{KeepDims: true}, X, Numbers(1)),
		One(&op.ReduceLogSum{}, Positive(X), Numbers(-1)),
		One(&op.ReduceLogSumExp{}, X, Numbers(0, 2)),
		One(&op.ReduceSumSquare{}, X, Numbers(1)),
		One(&op.CumSum{}, X, axis),
		One(&op.CumSum{Exclusive: true, Reverse: true}, X, axis),
		One(&op.CumProd{}, X, axis),
		One(&op.CumProd{Exclusive: true}, X, axis),
		One(&op.Hardmax{Axis: 1}, X),
		One(&op.LpNorm{Axis: -1}, X),
		One(&op.LpNorm{Axis: 1, P: 1}, X),
		One(&op.GroupNorm{Groups: 2, Epsilon: 1e-3}, First, Fixed(Real(4)), Fixed(Real(4))),
		One(&op.GroupNorm{Groups: 2, Epsilon: 1e-3, ChannelsLast: true}, Last, Fixed(Real(4)), Fixed(Real(4))),
		One(&op.Det{}, Real(2, 3, 3)),
		One(&op.Einsum{Equation: "ij,jk->ik"}, Real(2, 3), Real(3, 4)),
		One(&op.Einsum{Equation: "...ii->...i"}, Real(2, 3, 3)),
		One(&op.Attention{}, Real(1, 2, 3, 4), Real(1, 2, 5, 4), Real(1, 2, 5, 6)),
		One(&op.Attention{Before: []int64{1}, After: []int64{1}}, Real(1, 2, 3, 4), Real(1, 2, 5, 4), Real(1, 2, 5, 6)),
		One(&op.Attention{Causal: true, Heads: 4, KVHeads: 2, Softcap: 2}, Real(1, 3, 8), Real(1, 3, 4), Real(1, 3, 4)),
		One(&op.RotaryEmbedding{}, Real(1, 2, 3, 4), Fixed(Real(1, 3, 2)), Fixed(Real(1, 3, 2))),
		One(&op.RotaryEmbedding{Interleaved: true, Heads: 2}, Real(1, 3, 8), Fixed(Real(1, 3, 2)), Fixed(Real(1, 3, 2))),
		One(&op.GRU{}, Real(3, 2, 3), Small(1, 12, 3), Small(1, 12, 4)).Gives(2),
		One(&op.GRU{LinearBeforeReset: true, Direction: op.Bidirectional}, Real(3, 2, 3), Small(2, 12, 3), Small(2, 12, 4),
			Small(2, 24)).Gives(2),
	}
}

// signals are cases of windows and of transforms of signals.
func signals() []Case {
	size := Given(Of(tensor.Int64), 9)
	one := func(v float64) Operand { return Given(Of(tensor.Int64), v) }
	return []Case{
		One(&op.BlackmanWindow{}, size),
		One(&op.HammingWindow{Periodic: true}, size),
		One(&op.HannWindow{To: tensor.Float64}, size),
		One(&op.DFT{}, Real(1, 6, 1)),
		One(&op.DFT{Inverse: true}, Real(1, 5, 2), one(7), one(1)),
		One(&op.DFT{OneSided: true}, Real(2, 6, 1)),
		One(&op.STFT{OneSided: true}, Real(1, 12, 1), one(3), Positive(Real(6))),
		One(&op.STFT{}, Real(1, 12, 2), one(4), Absent, one(8)),
		One(&op.MelWeightMatrix{}, one(4), one(16), one(8000), Bound(0), Bound(4000)),
	}
}
