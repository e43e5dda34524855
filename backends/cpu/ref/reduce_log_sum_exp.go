package ref

import (
	"math"

	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(o *op.ReduceLogSumExp, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		return reduceReals(in, o.KeepDims, o.EmptyAxesKeep, out[0], accumulator{
			start: math.Inf(-1),
			real:  logAddExp,
		})
	})
}

// logAddExp returns ln(exp(a) + exp(b)) without overflow.
func logAddExp(a, b float64) float64 {
	hi, lo := max(a, b), min(a, b)
	if math.IsInf(hi, 0) {
		return hi
	}
	return hi + math.Log1p(math.Exp(lo-hi))
}
