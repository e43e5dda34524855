package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(_ *op.Square, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		return mapNumber(in[0], out[0], number{
			real: func(x float64) float64 { return x * x },
			int:  func(x int64) int64 { return x * x },
			uint: func(x uint64) uint64 { return x * x },
		})
	})
}
