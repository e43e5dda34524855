package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Native, func(_ *op.Range, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		y := like(out[0])
		start, delta := scalarAt(in[0], 0), scalarAt(in[2], 0)
		for i := range y.Count() {
			tick()
			if y.DType.IsFloat() {
				tensor.PutFloat(y.DType, y.Data, i, start.f+float64(i)*delta.f, true)
			} else {
				storeInt(y, i, start.i+int64(i)*delta.i)
			}
		}
		return []tensor.Tensor{y}, nil
	})
}
