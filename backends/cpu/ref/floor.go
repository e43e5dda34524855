package ref

import (
	"math"

	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(_ *op.Floor, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		return mapNumber(in[0], out[0], number{
			real: math.Floor,
			int:  sameInt,
			uint: sameUint,
		})
	})
}
