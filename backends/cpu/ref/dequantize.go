package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Native, func(o *op.Dequantize, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		x, scale := in[0], in[1]
		index, err := scaleOf(x, scale, o.Axis, o.Block)
		if err != nil {
			return nil, err
		}
		y := newTensor(out[0].DType, x.Dims...)
		for i, n := 0, x.Count(); i < n; i++ {
			tick()
			k := index(i)
			v := scalarAt(x, i).float()
			if len(in) > 2 && !in[2].Absent() {
				v -= scalarAt(in[2], k).float()
			}
			v *= tensor.FloatAt(scale.DType, scale.Data, k)
			if y.DType != tensor.Float64 {
				v = float64(float32(v))
			}
			tensor.PutFloat(y.DType, y.Data, i, v, true)
		}
		return []tensor.Tensor{y}, nil
	})
}
