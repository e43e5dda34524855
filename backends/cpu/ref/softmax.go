package ref

import (
	"math"

	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(o *op.Softmax, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		return mapLines(in[0], out[0], o.Axis, func(line []float64) {
			scale(line, o.Scale())
			m, sum := largest(line), 0.0
			for i, v := range line {
				tick()
				line[i] = math.Exp(v - m)
				sum += line[i]
			}
			for i := range line {
				tick()
				line[i] /= sum
			}
		})
	})
}

// scale multiplies every element.
func scale(line []float64, by float32) {
	for i := range line {
		tick()
		line[i] *= float64(by)
	}
}

// largest returns the largest element, NaN if one is NaN, -Inf of nothing.
func largest(line []float64) float64 {
	m := math.Inf(-1)
	for _, v := range line {
		tick()
		m = max(m, v)
	}
	return m
}

// mapLines replaces every line of a float tensor along axis by the result of f, in float64.
func mapLines(x tensor.Tensor, out tensor.Type, axis int64, f func(line []float64)) ([]tensor.Tensor, error) {
	a, err := op.Axis(axis, len(x.Dims))
	if err != nil {
		return nil, err
	}
	y := newTensor(out.DType, x.Dims...)
	if x.Count() == 0 {
		return []tensor.Tensor{y}, nil
	}
	line := alloc[float64](x.Dims[a])
	lines(x.Dims, a, func(_, start, step int) {
		for i := range line {
			tick()
			line[i] = tensor.FloatAt(x.DType, x.Data, start+i*step)
		}
		f(line)
		for i, v := range line {
			tick()
			tensor.PutFloat(y.DType, y.Data, start+i*step, v, false)
		}
	})
	return []tensor.Tensor{y}, nil
}
