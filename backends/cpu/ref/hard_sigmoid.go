package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(o *op.HardSigmoid, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		alpha, beta := float64(o.Alpha), float64(o.Beta)
		return mapReal(in[0], out[0], func(x float64) float64 { return max(0, min(1, alpha*x+beta)) })
	})
}
