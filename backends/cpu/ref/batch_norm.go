package ref

import (
	"math"

	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(o *op.BatchNorm, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		dims := in[0].Dims
		axis, err := op.Axis(o.Axis, len(dims))
		if err != nil {
			return nil, err
		}
		x, scale, offset, mean, variance := reals(in[0]), reals(in[1]), reals(in[2]), reals(in[3]), reals(in[4])
		y, put := realStore(out[0])
		channels, inner := int(dims[axis]), cellCount(dims[axis+1:])
		for i, v := range x {
			tick()
			c := i / inner % channels
			put(i, (v-mean[c])/math.Sqrt(variance[c]+float64(o.Epsilon))*scale[c]+offset[c])
		}
		return []tensor.Tensor{y}, nil
	})
}
