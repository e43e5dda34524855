package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(_ *op.PRelu, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		return arithmetic(in, out[0], prelu{})
	})
}

type prelu struct{}

func (prelu) float32(x, slope float32) float32 {
	return float32(prelu{}.float64(float64(x), float64(slope)))
}
func (prelu) uint(x, _ uint64) uint64 { return x }

func (prelu) float64(x, slope float64) float64 {
	if x >= 0 {
		return x
	}
	return slope * x
}

func (prelu) int(x, slope int64) int64 {
	if x >= 0 {
		return x
	}
	return slope * x
}
