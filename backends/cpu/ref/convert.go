package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(_ *op.Convert, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		t := out[0]
		y := newTensor(t.DType, in[0].Dims...)
		for i, n := 0, in[0].Count(); i < n; i++ {
			tick()
			scalarAt(in[0], i).put(y, i, true, true)
		}
		return []tensor.Tensor{y}, nil
	})
}
