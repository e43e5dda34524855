package opcase

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// OHNN are cases in forms that OH_NN has, beside Shared.
func OHNN() []Case {
	four := Fixed(Real(4))
	list := []Case{
		One(&op.Div{Rounding: op.DivTrunc}, Integers(4), Operand{Type: tensor.T(tensor.Int32, 4),
			Constant: tensor.Int32s(1, 2, -2, 3)}),
		One(&op.Mod{Sign: op.ModDividend}, X, Positive(Real(4))),
		One(&op.Round{Ties: op.RoundEven}, X),
		One(&op.HardSigmoid{Alpha: 1.0 / 6, Beta: 0.5}, X),
		One(&op.Swish{}, X),
		One(&op.Gelu{Approximate: op.GeluErf}, X),
		One(&op.Gelu{Approximate: op.GeluTanh}, X),
		One(&op.Exp{Base: 2, Scale: 0.5, Shift: 1}, X),
		One(&op.Cast{To: tensor.Bool}, X),
		One(&op.Where{}, Bools(2, 3, 4), X, Real(4)),
		One(&op.Conv{Groups: 1, ChannelsLast: true}, Quantized(tensor.Int8, 0.5, 1, 5, 5, 2),
			Fixed(Quantized(tensor.Int8, 0.25, 3, 2, 2, 2))),
		One(&op.MatMul{TransposeA: true}, Real(2, 4, 3), Real(1, 4, 5)),
		One(&op.BatchNorm{Epsilon: 0.01, Axis: 1}, First, four, four, four, Positive(Real(4))),
		One(&op.BatchNorm{Epsilon: 0.01, Axis: -1}, X, four, four, four, Positive(Real(4))),
		One(&op.Unsqueeze{}, X, Numbers(0, 4)),
		One(&op.Transpose{}, X),
		One(&op.Expand{}, Real(3, 1), Numbers(2, 3, 4)),
		One(&op.LayerNorm{Axis: -2, Epsilon: 0.001}, X, Fixed(Real(3, 4)), Fixed(Real(3, 4))),
		One(&op.ReduceL2{}, X, Numbers(1)),
	}
	list = append(list, Singles(&op.Ceil{}, &op.Cos{}, &op.Erf{})...)
	return append(list, Pairs(&op.SquaredDifference{})...)
}
