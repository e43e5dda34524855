package ref

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Bits|Judging, func(o *op.Gather, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		x := in[0]
		indices, err := intsOf(in[1])
		if err != nil {
			return nil, err
		}
		axis := int64(0)
		if len(in) > 2 {
			if axis, err = int0(in[2], 0); err != nil {
				return nil, err
			}
		}
		a, err := op.Axis(axis, len(x.Dims))
		if err != nil {
			return nil, err
		}
		outer, size, inner := around(x.Dims, a)
		y := like(out[0])
		for k, index := range indices {
			from, err := position(index, int64(size), o.NegativeWraps)
			if err != nil {
				return nil, fault.Wrap(err, "input 1: element %d", k)
			}
			for i := range outer {
				tick()
				move(y, (i*len(indices)+k)*inner, x, (i*size+int(from))*inner, inner)
			}
		}
		return []tensor.Tensor{y}, nil
	})
}
