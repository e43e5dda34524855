package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Bits, func(o *op.OneHot, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		indices, on, off := in[0], in[2], in[3]
		depth, err := int0(in[1], 0)
		if err != nil {
			return nil, err
		}
		y := like(out[0])
		a, err := op.Axis(o.Axis, len(y.Dims))
		if err != nil {
			return nil, err
		}
		_, _, inner := around(y.Dims, a)
		for i := range y.Count() {
			tick()
			cell := int64(i / inner % int(depth))
			k := scalarAt(indices, i/(inner*int(depth))*inner+i%inner)
			hot := k.i
			if indices.DType.IsFloat() {
				hot = saturateInt(k.f, -1<<62, 1<<62)
			} else if k.kind == uintKind {
				hot = int64(min(k.u, 1<<62))
			}
			if o.Outside == op.OneHotWraps && hot < 0 {
				hot += depth
			}
			if hot == cell {
				move(y, i, on, 0, 1)
			} else {
				move(y, i, off, 0, 1)
			}
		}
		return []tensor.Tensor{y}, nil
	})
}
