package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(_ *op.HardSwish, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		return mapReal(in[0], out[0], func(x float64) float64 { return x * max(0, min(6, x+3)) / 6 })
	})
}
