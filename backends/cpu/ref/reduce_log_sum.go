package ref

import (
	"math"

	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(o *op.ReduceLogSum, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		return reduceReals(in, o.KeepDims, o.EmptyAxesKeep, out[0], accumulator{
			real:    func(acc, x float64) float64 { return acc + x },
			endReal: func(acc float64, _ int) float64 { return math.Log(acc) },
		})
	})
}
