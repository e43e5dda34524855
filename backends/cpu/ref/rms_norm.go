package ref

import (
	"math"

	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(o *op.RMSNorm, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		if empty(out[0]) {
			return zeros(out), nil
		}
		rows, length, err := rowsFrom(in[0].Dims, o.Axis)
		if err != nil {
			return nil, err
		}
		x := reals(in[0])
		scale := parameter(in, 1, in[0].Dims, 1)
		y, put := realStore(out[0])
		for r := range rows {
			row := x[r*length:][:length]
			d := math.Sqrt(inner[float64, float64](row, row)/float64(length) + float64(o.Epsilon))
			for k, v := range row {
				tick()
				i := r*length + k
				put(i, v/d*scale(i))
			}
		}
		return []tensor.Tensor{y}, nil
	})
}
