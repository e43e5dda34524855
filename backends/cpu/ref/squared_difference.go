package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(_ *op.SquaredDifference, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		return arithmetic(in, out[0], squaredDifference{})
	})
}

type squaredDifference struct{}

func (squaredDifference) float32(a, b float32) float32 { return (a - b) * (a - b) }
func (squaredDifference) float64(a, b float64) float64 { return (a - b) * (a - b) }
func (squaredDifference) int(a, b int64) int64         { return (a - b) * (a - b) }
func (squaredDifference) uint(a, b uint64) uint64      { return (a - b) * (a - b) }
