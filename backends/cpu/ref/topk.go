package ref

import (
	"cmp"
	"slices"

	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(o *op.TopK, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		x := in[0]
		axis, err := op.Axis(o.Axis, len(x.Dims))
		if err != nil {
			return nil, err
		}
		better, err := ranking(x, !o.Smallest, false)
		if err != nil {
			return nil, err
		}
		dims, _ := out[0].Shape.Ints()
		values := newTensor(out[0].DType, dims...)
		indexType := tensor.Int64
		if len(out) > 1 {
			indexType = out[1].DType
		}
		indices := newTensor(indexType, dims...)
		move := mover(values, x)
		if values.Count() == 0 {
			return []tensor.Tensor{values, indices}[:len(out)], nil
		}
		k, n := int(dims[axis]), int(x.Dims[axis])
		order := alloc[int](n)
		lines(x.Dims, axis, func(line, start, step int) {
			for i := range order {
				tick()
				order[i] = i
			}
			slices.SortFunc(order, func(i, j int) int {
				tick()
				switch {
				case better(start+i*step, start+j*step):
					return -1
				case better(start+j*step, start+i*step):
					return 1
				}
				if o.SelectLast {
					return cmp.Compare(j, i)
				}
				return cmp.Compare(i, j)
			})
			top := order[:k]
			if o.Order == op.TopKByIndex {
				slices.Sort(top)
			}
			first := start - line/step*step*(n-k)
			for i, at := range top {
				tick()
				move(first+i*step, start+at*step)
				tensor.PutInt(indexType, indices.Data, first+i*step, int64(at))
			}
		})
		return []tensor.Tensor{values, indices}[:len(out)], nil
	})
}
