package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Native, func(o *op.Shape, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		start, end := o.Bounds(len(in[0].Dims))
		return []tensor.Tensor{intTensor(out[0], in[0].Dims[start:end]...)}, nil
	})
	register(Native, func(_ *op.Size, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		return []tensor.Tensor{intTensor(out[0], int64(in[0].Count()))}, nil
	})
	register(Native, func(_ *op.Rank, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		return []tensor.Tensor{intTensor(out[0], int64(len(in[0].Dims)))}, nil
	})
}

// intTensor returns a tensor of type t with the values v.
func intTensor(t tensor.Type, v ...int64) tensor.Tensor {
	y := like(t)
	for i, n := range v {
		storeInt(y, i, n)
	}
	return y
}
