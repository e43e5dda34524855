package ref

import (
	"math"

	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Native, func(o *op.Quantize, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		x, scale := in[0], in[1]
		index, err := scaleOf(x, scale, o.Axis, o.Block)
		if err != nil {
			return nil, err
		}
		y := newTensor(out[0].DType, x.Dims...)
		for i, n := 0, x.Count(); i < n; i++ {
			tick()
			k := index(i)
			v := scalarAt(x, i).float() / tensor.FloatAt(scale.DType, scale.Data, k)
			if x.DType != tensor.Float64 {
				v = float64(float32(scalarAt(x, i).float()) / float32(tensor.FloatAt(scale.DType, scale.Data, k)))
			}
			if y.DType.IsInt() {
				v = math.RoundToEven(v)
				if math.IsNaN(v) {
					v = 0
				}
			}
			if len(in) > 2 && !in[2].Absent() {
				v += scalarAt(in[2], k).float()
			}
			scalar{f: v}.put(y, i, true, o.Saturate)
		}
		return []tensor.Tensor{y}, nil
	})
}

// scaleOf returns the function from an element of x to the entry of scale that serves it; see op.Quantize.
func scaleOf(x, scale tensor.Tensor, axis, block int64) (func(i int) int, error) {
	if len(scale.Dims) == 0 || len(scale.Dims) == 1 && scale.Dims[0] == 1 && block == 0 {
		return func(int) int { return 0 }, nil
	}
	a, err := op.Axis(axis, len(x.Dims))
	if err != nil {
		return nil, err
	}
	return alongAxis(x.Dims, a, int(block)), nil
}
