package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(_ *op.Relu, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		return mapNumber(in[0], out[0], number{
			real: func(x float64) float64 { return max(x, 0) },
			int:  func(x int64) int64 { return max(x, 0) },
			uint: sameUint,
		})
	})
}
