package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Bits, func(_ *op.Transpose, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		x := in[0]
		var perm []int64
		if len(in) > 1 {
			var err error
			if perm, err = intsOf(in[1]); err != nil {
				return nil, err
			}
		}
		axes, err := op.Permutation(perm, len(x.Dims))
		if err != nil {
			return nil, err
		}
		own := tensor.RowMajor(x.Dims)
		stride := make([]int64, len(axes))
		for i, a := range axes {
			stride[i] = own[a]
		}
		return []tensor.Tensor{remap(x, out[0], func(idx []int64) int64 { return dot(idx, stride) })}, nil
	})
}
