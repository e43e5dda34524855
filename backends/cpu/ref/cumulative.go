package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// cumulate folds every line along the axis in input 1, writing each intermediate result.
func cumulate(in []tensor.Tensor, out tensor.Type, exclusive, reverse bool, a accumulator) ([]tensor.Tensor, error) {
	x := in[0]
	axis, err := op.Axis(tensor.IntAt(in[1].DType, in[1].Data, 0), len(x.Dims))
	if err != nil {
		return nil, err
	}
	y := newTensor(out.DType, x.Dims...)
	if y.Count() == 0 { // of any number of empty lines
		return []tensor.Tensor{y}, nil
	}
	n := int(x.Dims[axis])
	lines(x.Dims, axis, func(_, start, step int) {
		r, s := a.start, int64(a.start)
		for k := range n {
			tick()
			i := start + k*step
			if reverse {
				i = start + (n-1-k)*step
			}
			r0, s0 := r, s
			if x.DType.IsFloat() {
				r = a.real(r, tensor.FloatAt(x.DType, x.Data, i))
			} else {
				s = a.int(s, tensor.IntAt(x.DType, x.Data, i))
			}
			if !exclusive {
				r0, s0 = r, s
			}
			if x.DType.IsFloat() {
				tensor.PutFloat(y.DType, y.Data, i, r0, false)
			} else {
				tensor.PutInt(y.DType, y.Data, i, s0)
			}
		}
	})
	return []tensor.Tensor{y}, nil
}
