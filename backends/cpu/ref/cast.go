package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Native, func(o *op.Cast, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		y := newTensor(out[0].DType, in[0].Dims...)
		y.Quant = out[0].Quant
		for i, n := 0, in[0].Count(); i < n; i++ {
			tick()
			if y.DType == tensor.Float8E8M0 {
				y.Data[i] = tensor.ToPower(scalarAt(in[0], i).float(), o.Powers, o.Saturate)
				continue
			}
			scalarAt(in[0], i).put(y, i, o.OutOfRange == op.CastSaturate, o.Saturate)
		}
		return []tensor.Tensor{y}, nil
	})
}
