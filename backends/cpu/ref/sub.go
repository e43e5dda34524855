package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(_ *op.Sub, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		return arithmetic(in, out[0], subtractor{})
	})
}

type subtractor struct{}

func (subtractor) float32(a, b float32) float32 { return a - b }
func (subtractor) float64(a, b float64) float64 { return a - b }
func (subtractor) int(a, b int64) int64         { return a - b }
func (subtractor) uint(a, b uint64) uint64      { return a - b }
