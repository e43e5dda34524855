package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(o *op.Hardmax, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		return mapLines(in[0], out[0], o.Axis, func(line []float64) {
			best := 0
			for i, v := range line {
				tick()
				if v > line[best] || v != v && line[best] == line[best] {
					best = i
				}
			}
			clear(line)
			if len(line) > 0 {
				line[best] = 1
			}
		})
	})
}
