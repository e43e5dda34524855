package ref

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Bits|Judging, func(o *op.TensorScatter, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		cache, update := in[0], in[1]
		a, err := op.Axis(o.Axis, len(cache.Dims))
		if err != nil {
			return nil, err
		}
		start := alloc[int64](cache.Dims[0])
		if len(in) > 2 && !in[2].Absent() {
			if start, err = intsOf(in[2]); err != nil {
				return nil, err
			}
		}
		size, steps := cache.Dims[a], update.Dims[a]
		for b, s := range start {
			tick()
			if s < 0 || s > size || !o.Circular && s+steps > size {
				return nil, fault.New(fault.Data, "input 2: %d steps from %d of batch %d in a cache of %d", steps, s, b, size)
			}
		}
		y := like(out[0])
		copyBytes(y.Data, cache.Data)
		stride := tensor.RowMajor(cache.Dims)
		eachIndex(update.Dims, func(idx []int64, i int) {
			to := (start[idx[0]] + idx[a]) % size
			move(y, int(dot(idx, stride)+(to-idx[a])*stride[a]), update, i, 1)
		})
		return []tensor.Tensor{y}, nil
	})
}
