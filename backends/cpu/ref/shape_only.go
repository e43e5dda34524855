package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// The operators that give the elements of a tensor, in the same order, another shape.
func init() {
	register(Bits, func(_ *op.Reshape, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		return sameOrder(in, out)
	})
	register(Bits, func(_ *op.Flatten, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		return sameOrder(in, out)
	})
	register(Bits, func(_ *op.Squeeze, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		return sameOrder(in, out)
	})
	register(Bits, func(_ *op.Unsqueeze, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		return sameOrder(in, out)
	})
}

func sameOrder(in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
	y := like(out[0])
	copyBytes(y.Data, in[0].Data)
	return []tensor.Tensor{y}, nil
}
