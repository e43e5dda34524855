package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(_ *op.Greater, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		return compare(in, out[0], func(c int) bool { return c == 1 })
	})
}
