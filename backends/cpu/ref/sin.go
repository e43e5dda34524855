package ref

import (
	"math"

	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(_ *op.Sin, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		return mapReal(in[0], out[0], math.Sin)
	})
}
