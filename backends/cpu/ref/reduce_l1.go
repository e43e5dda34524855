package ref

import (
	"math"

	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(o *op.ReduceL1, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		return reduceNumbers(in, o.KeepDims, o.EmptyAxesKeep, out[0], accumulator{
			real: func(acc, x float64) float64 { return acc + math.Abs(x) },
			int:  func(acc, x int64) int64 { return acc + absInt(x) },
		})
	})
}
