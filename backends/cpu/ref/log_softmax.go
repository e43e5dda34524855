package ref

import (
	"math"

	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(o *op.LogSoftmax, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		return mapLines(in[0], out[0], o.Axis, func(line []float64) {
			scale(line, o.Scale())
			m, sum := largest(line), 0.0
			for _, v := range line {
				tick()
				sum += math.Exp(v - m)
			}
			log := math.Log(sum)
			for i := range line {
				tick()
				line[i] = line[i] - m - log
			}
		})
	})
}
