package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(o *op.ThresholdedRelu, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		alpha := float64(o.Alpha)
		return mapReal(in[0], out[0], func(x float64) float64 {
			if x > alpha {
				return x
			}
			return 0
		})
	})
}
