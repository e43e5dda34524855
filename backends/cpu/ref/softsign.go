package ref

import (
	"math"

	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(_ *op.Softsign, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		return mapReal(in[0], out[0], func(x float64) float64 { return x / (1 + math.Abs(x)) })
	})
}
