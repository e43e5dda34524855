package ref

import (
	"math"

	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(o *op.Selu, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		alpha, gamma := float64(o.Alpha), float64(o.Gamma)
		return mapReal(in[0], out[0], func(x float64) float64 {
			if x > 0 {
				return gamma * x
			}
			return gamma * alpha * math.Expm1(x)
		})
	})
}
