package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Bits, func(_ *op.Identity, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		y := newTensor(in[0].DType, in[0].Dims...)
		y.Quant = out[0].Quant
		copyBytes(y.Data, in[0].Data)
		return []tensor.Tensor{y}, nil
	})
}
