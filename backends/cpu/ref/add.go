package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(_ *op.Add, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		return arithmetic(in, out[0], adder{})
	})
}

type adder struct{}

func (adder) float32(a, b float32) float32 { return a + b }
func (adder) float64(a, b float64) float64 { return a + b }
func (adder) int(a, b int64) int64         { return a + b }
func (adder) uint(a, b uint64) uint64      { return a + b }
