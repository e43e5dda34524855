package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(_ *op.Xor, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		return logical(in, out[0], func(a, b bool) bool { return a != b })
	})
}
