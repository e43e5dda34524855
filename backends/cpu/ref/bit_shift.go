package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(o *op.BitShift, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		// Go shifts everything out for large counts; a negative one is large as uint64.
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
