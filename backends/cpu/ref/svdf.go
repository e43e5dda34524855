package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() { register(Real, svdf) }

func svdf(o *op.SVDF, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
	x, features, time, state := reals(in[0]), reals(in[1]), reals(in[2]), reals(in[4])
	bias := reals(in[3])
	batch, inputs := int(in[0].Dims[0]), int(in[0].Dims[1])
	filters, steps, rank := int(in[2].Dims[0]), int(in[2].Dims[1]), int(o.Rank)
	units := filters / rank
	y, put := realStore(out[0])
	next, keep := realStore(out[1])
	row := alloc[float64](steps)
	for b := range batch {
		for u := range units {
			sum := 0.0
			if bias != nil {
				sum = bias[u]
			}
			for f := u * rank; f < (u+1)*rank; f++ {
				tick()
				at := (b*filters + f) * steps
				copy(row, state[at:])
				row[steps-1] = inner[float64, float64](x[b*inputs:][:inputs], features[f*inputs:])
				sum += inner[float64, float64](row, time[f*steps:])
				for m, v := range row[1:] {
					tick()
					keep(at+m, v)
				}
				keep(at+steps-1, 0)
			}
			put(b*units+u, sum)
		}
	}
	return []tensor.Tensor{y, next}, nil
}
