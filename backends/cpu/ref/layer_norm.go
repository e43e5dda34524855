package ref

import (
	"math"

	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(o *op.LayerNorm, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		if empty(out[0]) && len(out) == 1 {
			return zeros(out), nil
		}
		rows, length, err := rowsFrom(in[0].Dims, o.Axis)
		if err != nil {
			return nil, err
		}
		x := reals(in[0])
		gamma, beta := parameter(in, 1, in[0].Dims, 1), parameter(in, 2, in[0].Dims, 0)
		y, put := realStore(out[0])
		res := []tensor.Tensor{y}
		stats := [2]func(i int, r float64){func(int, float64) {}, func(int, float64) {}}
		for k := range out[1:] {
			t, store := realStore(out[k+1])
			res, stats[k] = append(res, t), store
		}
		for r := range rows {
			row := x[r*length:][:length]
			mean, variance := moments(row)
			inverse := 1 / math.Sqrt(variance+float64(o.Epsilon))
			stats[0](r, mean)
			stats[1](r, inverse)
			for k, v := range row {
				tick()
				i := r*length + k
				put(i, (v-mean)*inverse*gamma(i)+beta(i))
			}
		}
		return res, nil
	})
}
