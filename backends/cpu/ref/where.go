package ref

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Bits, func(_ *op.Where, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		cond, a, b := in[0], in[1], in[2]
		if a.DType != out[0].DType || b.DType != out[0].DType {
			return nil, fault.New(fault.Type, "cannot choose between %v and %v for %v", a.DType, b.DType, out[0].DType)
		}
		dims, _ := out[0].Shape.Ints()
		y := newTensor(out[0].DType, dims...)
		y.Quant = out[0].Quant
		ic, ia, ib := broadcastIndex(cond.Dims, dims), broadcastIndex(a.Dims, dims), broadcastIndex(b.Dims, dims)
		fromA, fromB := mover(y, a), mover(y, b)
		for i, n := 0, y.Count(); i < n; i++ {
			tick()
			if cond.Data[ic(i)] != 0 {
				fromA(i, ia(i))
			} else {
				fromB(i, ib(i))
			}
		}
		return []tensor.Tensor{y}, nil
	})
}
