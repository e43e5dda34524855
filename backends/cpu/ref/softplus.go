package ref

import (
	"math"

	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(_ *op.Softplus, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		return mapReal(in[0], out[0], softplus)
	})
}

func softplus(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }
