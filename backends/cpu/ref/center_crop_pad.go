package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Bits, func(o *op.CenterCropPad, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		x := in[0]
		zero, err := padValue(x, tensor.Tensor{})
		if err != nil {
			return nil, err
		}
		y := like(out[0])
		first := make([]int64, len(x.Dims)) // the cell of x at index 0 of y
		for d, n := range x.Dims {
			if n >= y.Dims[d] {
				first[d] = (n - y.Dims[d]) / 2
			} else {
				first[d] = -((y.Dims[d] - n) / 2)
			}
		}
		stride := tensor.RowMajor(x.Dims)
		eachIndex(y.Dims, func(idx []int64, i int) {
			at := int64(0)
			for d, k := range idx {
				cell := first[d] + k
				if cell < 0 || cell >= x.Dims[d] {
					move(y, i, zero, 0, 1)
					return
				}
				at += cell * stride[d]
			}
			move(y, i, x, int(at), 1)
		})
		return []tensor.Tensor{y}, nil
	})
}
