package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Native, func(_ *op.BitCast, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		y := like(out[0])
		copyBytes(y.Data, in[0].Data)
		if y.DType == tensor.Bool {
			for i, b := range y.Data {
				tick()
				y.Data[i] = min(b, 1)
			}
		}
		return []tensor.Tensor{y}, nil
	})
}
