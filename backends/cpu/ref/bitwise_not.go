package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(_ *op.BitwiseNot, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		return mapNumber(in[0], out[0], number{
			real: nil,
			int:  func(x int64) int64 { return ^x },
			uint: func(x uint64) uint64 { return ^x },
		})
	})
}
