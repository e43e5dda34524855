package ref

import (
	"math"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real|Judging, func(_ *op.MelWeightMatrix, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		length, rate := float64(scalarAt(in[1], 0).i), float64(scalarAt(in[2], 0).i)
		y := like(out[0])
		bins, bands := int(y.Dims[0]), int(y.Dims[1])
		low, high := toMel(scalarAt(in[3], 0).f), toMel(scalarAt(in[4], 0).f)
		edges := alloc[int](bands + 2)
		for i := range edges {
			tick()
			mel := low + float64(i)*(high-low)/float64(len(edges))
			bin := math.Floor((length + 1) * 700 * (math.Pow(10, mel/2595) - 1) / rate)
			if !(bin >= 0 && bin < float64(bins)) {
				return nil, fault.New(fault.Data, "band edge %d lies in bin %v of %d", i, bin, bins)
			}
			edges[i] = int(bin)
		}
		for i := range bands {
			from, top, to := edges[i], edges[i+1], edges[i+2]
			for j := from; j <= top; j++ {
				tick()
				w := 1.0
				if top > from {
					w = float64(j-from) / float64(top-from)
				}
				putNumber(y, j*bands+i, w)
			}
			for j := top; j < to; j++ {
				tick()
				putNumber(y, j*bands+i, float64(to-j)/float64(to-top))
			}
		}
		return []tensor.Tensor{y}, nil
	})
}

// toMel converts a frequency in hertz to the mel scale.
func toMel(f float64) float64 { return 2595 * math.Log10(1+f/700) }
