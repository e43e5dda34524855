package ref

import (
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Bits|Judging, func(o *op.Compress, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		x, cond := in[0], in[1]
		dims, a := x.Dims, 0
		if o.Flatten {
			dims = []int64{int64(x.Count())}
		} else {
			var err error
			if a, err = op.Axis(o.Axis, len(dims)); err != nil {
				return nil, err
			}
		}
		outer, size, inner := around(dims, a)
		var kept []int
		for i, c := range cond.Data[:cond.Count()] {
			tick()
			if c != 0 {
				if i >= size {
					return nil, fault.New(fault.Data, "input 1: element %d is true, the axis has size %d", i, size)
				}
				kept = append(kept, i)
			}
		}
		return pick(x, out[0], dims, a, outer, size, inner, kept)
	})
	register(Real, func(_ *op.NonZero, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		x := in[0]
		rank := len(x.Dims)
		found := whereTrue(x)
		n := len(found)
		y := newTensor(tensor.Int64, int64(rank), int64(n))
		placesOf(mem.Elements[int64](y.Data), found, x.Dims)
		return []tensor.Tensor{y}, nil
	})
}

// pick copies the steps kept along axis a of x, seen with sizes dims.
func pick(x tensor.Tensor, out tensor.Type, dims []int64, a, outer, size, inner int, kept []int) ([]tensor.Tensor,
	error) {
	dims = slices.Clone(dims)
	dims[a] = int64(len(kept))
	y, err := sized(out, dims...)
	if err != nil {
		return nil, err
	}
	for i := range outer {
		for k, from := range kept {
			tick()
			move(y, (i*len(kept)+k)*inner, x, (i*size+from)*inner, inner)
		}
	}
	return []tensor.Tensor{y}, nil
}
