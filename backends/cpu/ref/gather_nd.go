package ref

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Bits|Judging, func(o *op.GatherND, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		x, indices := in[0], in[1]
		b := int(o.BatchDims)
		batches := int(product(x.Dims[:b]))
		k := int(indices.Dims[len(indices.Dims)-1])
		places, err := vectorPlaces(x.Dims[b:], indices, o.NegativeWraps)
		if err != nil {
			return nil, err
		}
		inner, whole := int(product(x.Dims[b+k:])), int(product(x.Dims[b:]))
		y := like(out[0])
		for i, p := range places {
			tick()
			batch := i / (len(places) / batches)
			move(y, i*inner, x, batch*whole+int(p), inner)
		}
		return []tensor.Tensor{y}, nil
	})
}

// vectorPlaces returns, for each index vector, the first element of the slice that it names in a tensor of sizes dims.
func vectorPlaces(dims []int64, indices tensor.Tensor, wraps bool) ([]int64, error) {
	v, err := intsOf(indices)
	if err != nil {
		return nil, err
	}
	last := len(indices.Dims) - 1
	k := int(indices.Dims[last])
	stride := tensor.RowMajor(dims)
	places := alloc[int64](product(indices.Dims[:last]))
	for i := range places {
		tick()
		for d, n := range v[i*k : (i+1)*k] {
			at, err := position(n, dims[d], wraps)
			if err != nil {
				return nil, fault.Wrap(err, "input 1: vector %d", i)
			}
			places[i] += at * stride[d]
		}
	}
	return places, nil
}
