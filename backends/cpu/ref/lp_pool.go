package ref

import (
	"math"

	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(o *op.LpPool, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		if empty(out[0]) {
			return zeros(out), nil
		}
		res, put := realStore(out[0])
		e, ye := extentOf(in[0].Dims, o.ChannelsLast), extentOf(res.Dims, o.ChannelsLast)
		windows, err := o.Windows(e.spatial)
		if err != nil {
			return nil, err
		}
		power := float64(o.P)
		if o.P == 0 {
			power = 2
		}
		x := reals(in[0])
		newGrid(windows, sliding, slid).each(func(p int, taps []tap) {
			for n := range e.n {
				for c := range e.c {
					base, step := e.index(n, c, 0), e.step()
					var sum float64
					for _, t := range taps {
						tick()
						sum += math.Pow(math.Abs(x[base+t.in*step]), power)
					}
					if o.Mean {
						sum /= float64(max(len(taps), 1))
					}
					put(ye.index(n, c, p), math.Pow(sum, 1/power))
				}
			}
		})
		return []tensor.Tensor{res}, nil
	})
}
