package ref

import (
	"math"

	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(_ *op.IsNaN, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		return mapTest(in[0], out[0], test{real: math.IsNaN})
	})
}
