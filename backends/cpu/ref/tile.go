package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Bits, func(_ *op.Tile, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		x := in[0]
		stride := tensor.RowMajor(x.Dims)
		return []tensor.Tensor{remap(x, out[0], func(idx []int64) int64 {
			at, lead := int64(0), len(idx)-len(x.Dims)
			for d, n := range x.Dims {
				at += idx[lead+d] % n * stride[d]
			}
			return at
		})}, nil
	})
}
