package ref

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Bits, func(_ *op.Slice, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		x := in[0]
		var lists [5][]int64
		for i := 1; i < len(in); i++ {
			var err error
			if lists[i], err = intsOf(in[i]); err != nil {
				return nil, fault.Wrap(err, "input %d", i)
			}
		}
		stride := tensor.RowMajor(x.Dims)
		base := int64(0)
		for i := range lists[1] {
			axis, step := int64(i), int64(1)
			if lists[3] != nil {
				axis = lists[3][i]
			}
			if lists[4] != nil {
				step = lists[4][i]
			}
			a, err := op.Axis(axis, len(x.Dims))
			if err != nil {
				return nil, err
			}
			first, _ := op.SliceRange(lists[1][i], lists[2][i], step, x.Dims[a])
			base += first * stride[a]
			stride[a] *= step
		}
		return []tensor.Tensor{remap(x, out[0], func(idx []int64) int64 { return base + dot(idx, stride) })}, nil
	})
}
