package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(o *op.ReduceMean, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		return reduceNumbers(in, o.KeepDims, o.EmptyAxesKeep, out[0], accumulator{
			real:     func(acc, x float64) float64 { return acc + x },
			int:      func(acc, x int64) int64 { return acc + x },
			endReal:  func(acc float64, n int) float64 { return acc / float64(n) },
			endInt:   func(acc int64, n int) int64 { return acc / int64(n) },
			endUint:  func(acc uint64, n int) uint64 { return acc / uint64(n) },
			notEmpty: true,
		})
	})
}
