package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(o *op.CumSum, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		return cumulate(in, out[0], o.Exclusive, o.Reverse, accumulator{
			start: 0,
			real:  func(acc, x float64) float64 { return acc + x },
			int:   func(acc, x int64) int64 { return acc + x },
		})
	})
}
