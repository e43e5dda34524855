package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(_ *op.Not, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		return mapTest(in[0], out[0], test{
			real: func(x float64) bool { return x == 0 },
			int:  func(x int64) bool { return x == 0 },
		})
	})
}
