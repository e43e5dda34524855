package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(o *op.Min, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		if o.NaN == op.NaNLoses {
			return arithmetic(in, out[0], minNumber{})
		}
		return arithmetic(in, out[0], minimum{})
	})
}

// minimum gives NaN when one operand is NaN.
type minimum struct{}

func (minimum) float32(a, b float32) float32 { return min(a, b) }
func (minimum) float64(a, b float64) float64 { return min(a, b) }
func (minimum) int(a, b int64) int64         { return min(a, b) }
func (minimum) uint(a, b uint64) uint64      { return min(a, b) }

// minNumber gives the other operand when one is NaN.
type minNumber struct{ minimum }

func (minNumber) float32(a, b float32) float32 { return loseMin(a, b) }
func (minNumber) float64(a, b float64) float64 { return loseMin(a, b) }

func loseMin[T float32 | float64](a, b T) T {
	switch {
	case a != a:
		return b
	case b != b:
		return a
	}
	return min(a, b)
}
