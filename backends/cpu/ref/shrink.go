package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(o *op.Shrink, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		lambda, bias := float64(o.Lambda), float64(o.Bias)
		f := func(x float64) float64 {
			switch {
			case x < -lambda:
				return x + bias
			case x > lambda:
				return x - bias
			}
			return 0
		}
		if in[0].DType.IsFloat() {
			return mapReal(in[0], out[0], f)
		}
		y := newTensor(out[0].DType, in[0].Dims...)
		for i, n := 0, in[0].Count(); i < n; i++ {
			tick()
			scalar{f: f(scalarAt(in[0], i).float())}.put(y, i, true, true)
		}
		return []tensor.Tensor{y}, nil
	})
}
