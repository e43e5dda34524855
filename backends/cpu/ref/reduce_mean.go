package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(o *op.ReduceMean, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		if !in[0].DType.IsFloat() {
			return reduceIntMeans(in, o.KeepDims, o.EmptyAxesKeep, out[0])
		}
		return reduceReals(in, o.KeepDims, o.EmptyAxesKeep, out[0], accumulator{
			real:    func(acc, x float64) float64 { return acc + x },
			endReal: func(acc float64, n int) float64 { return acc / float64(n) },
		})
	})
}
