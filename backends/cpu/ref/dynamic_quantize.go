package ref

import (
	"math"

	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Native, func(_ *op.DynamicQuantize, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		x := view[float32](in[0])
		var lo, hi float32
		for _, v := range x {
			tick()
			lo, hi = min(lo, v), max(hi, v)
		}
		scale := (hi - lo) / 255
		if hi == lo {
			scale = 1
		}
		zero := math.RoundToEven(float64(-lo / scale))
		y := newTensor(tensor.Uint8, in[0].Dims...)
		for i, v := range x {
			tick()
			scalar{f: math.RoundToEven(float64(v/scale)) + zero}.put(y, i, true, false)
		}
		s, z := newTensor(tensor.Float32), newTensor(tensor.Uint8)
		tensor.PutFloat(tensor.Float32, s.Data, 0, float64(scale), false)
		scalar{f: zero}.put(z, 0, true, false)
		return []tensor.Tensor{y, s, z}[:len(out)], nil
	})
}
