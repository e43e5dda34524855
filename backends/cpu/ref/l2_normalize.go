package ref

import (
	"math"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(o *op.L2Normalize, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		if empty(out[0]) {
			return zeros(out), nil
		}
		dims := in[0].Dims
		var axes []int64
		if len(in) > 1 && !in[1].Absent() {
			v, err := readInts(in[1].DType, in[1].Data, in[1].Count())
			if err != nil {
				return nil, fault.As(fault.Type, err, "input 1")
			}
			axes = v
		}
		kept := make([]int64, len(dims)) // the shape of the sums
		for i := range dims {
			kept[i] = 1
			if len(axes) > 0 {
				kept[i] = dims[i]
			}
		}
		for _, a := range axes {
			i, err := op.Axis(a, len(dims))
			if err != nil {
				return nil, fault.Wrap(err, "input 1")
			}
			kept[i] = 1
		}
		x, set := reals(in[0]), broadcastIndex(kept, dims)
		sums := alloc[float64](cellCount(kept))
		for i, v := range x {
			tick()
			sums[set(i)] += v * v
		}
		y, put := realStore(out[0])
		for i, v := range x {
			tick()
			s := sums[set(i)]
			if o.Mode == op.EpsAdd {
				s += float64(o.Epsilon)
			}
			if o.Mode == op.EpsMax {
				s = max(s, float64(o.Epsilon))
			}
			put(i, v/math.Sqrt(s))
		}
		return []tensor.Tensor{y}, nil
	})
}
