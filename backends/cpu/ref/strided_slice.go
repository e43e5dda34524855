package ref

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Bits, func(o *op.StridedSlice, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		x := in[0]
		var lists [4][]tensor.Dim
		for i := 1; i < 4; i++ {
			v, err := intsOf(in[i])
			if err != nil {
				return nil, fault.Wrap(err, "input %d", i)
			}
			lists[i] = tensor.Of(v...).Dims
		}
		cuts, err := o.Cuts(lists[1], lists[2], lists[3], tensor.Of(x.Dims...).Dims)
		if err != nil {
			return nil, err
		}
		own := tensor.RowMajor(x.Dims)
		base := int64(0)
		var stride []int64
		for _, c := range cuts {
			step := int64(0)
			if c.Axis >= 0 {
				base += c.First * own[c.Axis]
				step = c.Step * own[c.Axis]
			}
			if !c.Drop {
				stride = append(stride, step)
			}
		}
		return []tensor.Tensor{remap(x, out[0], func(idx []int64) int64 { return base + dot(idx, stride) })}, nil
	})
}
