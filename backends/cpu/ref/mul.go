package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(_ *op.Mul, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		return arithmetic(in, out[0], multiplier{})
	})
}

type multiplier struct{}

func (multiplier) float32(a, b float32) float32 { return a * b }
func (multiplier) float64(a, b float64) float64 { return a * b }
func (multiplier) int(a, b int64) int64         { return a * b }
func (multiplier) uint(a, b uint64) uint64      { return a * b }
