package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Bits, func(o *op.Concat, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		y := like(out[0])
		axis, err := op.Axis(o.Axis, len(y.Dims))
		if err != nil {
			return nil, err
		}
		outer, size, inner := around(y.Dims, axis)
		at := 0
		for _, x := range in {
			n := int(x.Dims[axis])
			for i := range outer {
				tick()
				move(y, (i*size+at)*inner, x, i*n*inner, n*inner)
			}
			at += n
		}
		return []tensor.Tensor{y}, nil
	})
}
