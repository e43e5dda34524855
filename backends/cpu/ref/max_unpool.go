package ref

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Bits|Judging, func(o *op.MaxUnpool, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		y := like(out[0])
		from, err := o.From(in[0].Dims)
		if err != nil {
			return nil, err
		}
		if y.Quant != nil { // integers that stand for 0
			index, err := scaleIndex(y)
			if err != nil {
				return nil, err
			}
			for i := range y.Count() {
				tick()
				storeInt(y, i, int64(y.Quant.ZeroAt(index(i))))
			}
		}
		indices, err := intsOf(in[1])
		if err != nil {
			return nil, err
		}
		total, stride := int64(cellCount(from)), tensor.RowMajor(y.Dims)
		at := alloc[int](len(from))
		for i, k := range indices {
			tick()
			if k < 0 || k >= total {
				return nil, fault.New(fault.Data, "input 1: index %d is outside %d elements", k, total)
			}
			unflatten(int(k), from, at)
			to := int64(0)
			for d, j := range at {
				to += int64(j) * stride[d]
			}
			move(y, int(to), in[0], i, 1)
		}
		return []tensor.Tensor{y}, nil
	})
}
