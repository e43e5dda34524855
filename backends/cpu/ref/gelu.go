package ref

import (
	"math"

	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(o *op.Gelu, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		if o.Approximate == op.GeluTanh {
			return mapReal(in[0], out[0], func(x float64) float64 {
				return x / (1 + math.Exp(-2*math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x))) // (1+tanh(u))/2 with all its digits
			})
		}
		// erfc keeps the digits that 1 + erf loses for negative x.
		return mapReal(in[0], out[0], func(x float64) float64 { return 0.5 * x * math.Erfc(-x/math.Sqrt2) })
	})
}
