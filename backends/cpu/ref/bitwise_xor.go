package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(_ *op.BitwiseXor, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		return arithmetic(in, out[0], integers{
			i: func(a, b int64) int64 { return a ^ b },
			u: func(a, b uint64) uint64 { return a ^ b },
		})
	})
}
