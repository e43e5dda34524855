package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Bits, func(_ *op.Fill, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		y := like(out[0])
		put := mover(y, in[1])
		for i := range y.Count() {
			tick()
			put(i, 0)
		}
		return []tensor.Tensor{y}, nil
	})
}
