package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Bits, func(o *op.Split, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		x := in[0]
		axis, err := op.Axis(o.Axis, len(x.Dims))
		if err != nil {
			return nil, err
		}
		outer, size, inner := around(x.Dims, axis)
		ys := make([]tensor.Tensor, len(out))
		at := 0
		for k, t := range out {
			y := like(t)
			n := int(y.Dims[axis])
			for i := range outer {
				tick()
				move(y, i*n*inner, x, (i*size+at)*inner, n*inner)
			}
			at += n
			ys[k] = y
		}
		return ys, nil
	})
}
