package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Bits, func(_ *op.Declare, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		return sameOrder(in, out)
	})
}
