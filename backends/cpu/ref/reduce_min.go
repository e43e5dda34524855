package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(o *op.ReduceMin, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		return reduceExtreme(in, o.KeepDims, o.EmptyAxesKeep, out[0], false)
	})
}
