package ref

import (
	"math"

	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(o *op.IsInf, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		return mapTest(in[0], out[0], test{real: func(x float64) bool {
			return o.Negative && math.IsInf(x, -1) || o.Positive && math.IsInf(x, 1)
		}})
	})
}
