package ref

import (
	"math"

	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(o *op.Round, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		f := math.RoundToEven
		if o.Ties == op.RoundAway {
			f = math.Round
		}
		return mapNumber(in[0], out[0], number{real: f, int: sameInt, uint: sameUint})
	})
}
