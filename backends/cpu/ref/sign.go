package ref

import (
	"cmp"

	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(_ *op.Sign, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		return mapNumber(in[0], out[0], number{
			real: signReal,
			int:  func(x int64) int64 { return int64(cmp.Compare(x, 0)) },
			uint: func(x uint64) uint64 { return min(x, 1) },
		})
	})
}

func signReal(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	if x == 0 {
		return 0 // also for -0
	}
	return x
}
