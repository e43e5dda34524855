package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// argExtreme finds the position of the largest or the smallest element of every line along axis.
func argExtreme(x tensor.Tensor, out tensor.Type, axis int64, largest, last bool) ([]tensor.Tensor, error) {
	a, err := op.Axis(axis, len(x.Dims))
	if err != nil {
		return nil, err
	}
	better, err := ranking(x, largest, true)
	if err != nil {
		return nil, err
	}
	dims, _ := out.Shape.Ints()
	y := newTensor(out.DType, dims...)
	n := int(x.Dims[a])
	lines(x.Dims, a, func(line, start, step int) {
		best := 0
		for k := 1; k < n; k++ {
			tick()
			i, j := start+k*step, start+best*step
			if better(i, j) || last && !better(j, i) {
				best = k
			}
		}
		tensor.PutInt(y.DType, y.Data, line, int64(best))
	})
	return []tensor.Tensor{y}, nil
}
