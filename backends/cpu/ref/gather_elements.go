package ref

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Bits|Judging, func(o *op.GatherElements, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		y := like(out[0])
		places, err := elementPlaces(in[0].Dims, in[1], o.Axis, o.NegativeWraps)
		if err != nil {
			return nil, err
		}
		for i, j := range places {
			tick()
			move(y, i, in[0], int(j), 1)
		}
		return []tensor.Tensor{y}, nil
	})
}

// elementPlaces returns, for each element of indices, the element of a tensor of sizes dims that it names along an
// axis.
func elementPlaces(dims []int64, indices tensor.Tensor, axis int64, wraps bool) ([]int64, error) {
	v, err := intsOf(indices)
	if err != nil {
		return nil, err
	}
	a, err := op.Axis(axis, len(dims))
	if err != nil {
		return nil, err
	}
	stride := tensor.RowMajor(dims)
	eachIndex(indices.Dims, func(idx []int64, i int) {
		k, bad := position(v[i], dims[a], wraps)
		if bad != nil && err == nil {
			err = fault.Wrap(bad, "input 1: element %d", i)
		}
		v[i] = dot(idx, stride) + (k-idx[a])*stride[a]
	})
	return v, err
}
