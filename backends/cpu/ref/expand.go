package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Bits, func(_ *op.Expand, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		y := like(out[0])
		from, put := broadcastIndex(in[0].Dims, y.Dims), mover(y, in[0])
		for i := range y.Count() {
			tick()
			put(i, from(i))
		}
		return []tensor.Tensor{y}, nil
	})
}
