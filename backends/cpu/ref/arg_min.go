package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(o *op.ArgMin, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		return argExtreme(in[0], out[0], o.Axis, false, o.SelectLast)
	})
}
