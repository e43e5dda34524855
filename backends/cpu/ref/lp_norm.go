package ref

import (
	"math"

	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(o *op.LpNorm, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		if empty(out[0]) {
			return zeros(out), nil
		}
		axis, err := op.Axis(o.Axis, len(in[0].Dims))
		if err != nil {
			return nil, err
		}
		x := reals(in[0])
		y, put := realStore(out[0])
		lines(in[0].Dims, axis, func(_, start, step int) {
			var norm float64
			for c := range int(in[0].Dims[axis]) {
				v := math.Abs(x[start+c*step])
				if o.P != 1 {
					v *= v
				}
				norm += v
			}
			if o.P != 1 {
				norm = math.Sqrt(norm)
			}
			for c := range int(in[0].Dims[axis]) {
				i := start + c*step
				if norm == 0 {
					put(i, 0)
					continue
				}
				put(i, x[i]/norm)
			}
		})
		return []tensor.Tensor{y}, nil
	})
}
