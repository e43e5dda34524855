package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(o *op.EyeLike, _ []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		y := like(out[0])
		rows, cols := y.Dims[0], y.Dims[1]
		for i := range rows {
			tick()
			if o.K < -i || o.K >= cols-i {
				continue
			}
			if at := int(i*cols + i + o.K); y.DType.IsFloat() {
				tensor.PutFloat(y.DType, y.Data, at, 1, true)
			} else {
				storeInt(y, at, 1)
			}
		}
		return []tensor.Tensor{y}, nil
	})
	register(Bits, func(o *op.Trilu, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		x := in[0]
		k := int64(0)
		if len(in) > 1 {
			var err error
			if k, err = int0(in[1], 0); err != nil {
				return nil, err
			}
		}
		zero, err := padValue(x, tensor.Tensor{})
		if err != nil {
			return nil, err
		}
		y := like(out[0])
		r := len(y.Dims)
		eachIndex(y.Dims, func(idx []int64, i int) {
			off := idx[r-1] - idx[r-2]
			if o.Upper && off >= k || !o.Upper && off <= k {
				move(y, i, x, i, 1)
			} else {
				move(y, i, zero, 0, 1)
			}
		})
		return []tensor.Tensor{y}, nil
	})
}
