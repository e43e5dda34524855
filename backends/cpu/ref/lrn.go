package ref

import (
	"math"

	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(o *op.LRN, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		if empty(out[0]) {
			return zeros(out), nil
		}
		axis, err := op.Axis(o.Axis, len(in[0].Dims))
		if err != nil {
			return nil, err
		}
		alpha := float64(o.Alpha)
		if o.DivideAlpha {
			alpha /= float64(o.Before + o.After + 1)
		}
		x, channels := reals(in[0]), int(in[0].Dims[axis])
		y, put := realStore(out[0])
		lines(in[0].Dims, axis, func(_, start, step int) {
			for c := range channels {
				tick()
				var sum float64
				for k := max(0, c-int(o.Before)); k <= min(channels-1, c+int(o.After)); k++ {
					tick()
					v := x[start+k*step]
					sum += v * v
				}
				i := start + c*step
				put(i, x[i]/math.Pow(float64(o.Bias)+alpha*sum, float64(o.Beta)))
			}
		})
		return []tensor.Tensor{y}, nil
	})
}
