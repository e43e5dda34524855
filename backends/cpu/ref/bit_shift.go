package ref

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(o *op.BitShift, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		if i, v, bad := findInt(in[1], func(v int64) bool { return v < 0 }); bad && in[1].DType.IsSigned() {
			return nil, fault.New(fault.Data, "input 1: element %d: shift by %d bits", i, v)
		}
		if o.Right {
			return arithmetic(in, out[0], integers{
				i: func(a, b int64) int64 { return a >> uint64(b) },
				u: func(a, b uint64) uint64 { return a >> b },
			})
		}
		return arithmetic(in, out[0], integers{
			i: func(a, b int64) int64 { return a << uint64(b) },
			u: func(a, b uint64) uint64 { return a << b },
		})
	})
}
