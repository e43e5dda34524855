package ref

import (
	"math"

	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(o *op.Exp, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		base, scale, shift := float64(o.Base), float64(o.Scale), float64(o.Shift)
		if scale == 0 {
			scale = 1
		}
		if base == 0 {
			return mapReal(in[0], out[0], func(x float64) float64 { return math.Exp(shift + scale*x) })
		}
		return mapReal(in[0], out[0], func(x float64) float64 { return math.Pow(base, shift+scale*x) })
	})
}
