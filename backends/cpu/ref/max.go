package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(o *op.Max, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		if o.NaN == op.NaNLoses {
			return arithmetic(in, out[0], maxNumber{})
		}
		return arithmetic(in, out[0], maximum{})
	})
}

// maximum gives NaN when one operand is NaN.
type maximum struct{}

func (maximum) float32(a, b float32) float32 { return max(a, b) }
func (maximum) float64(a, b float64) float64 { return max(a, b) }
func (maximum) int(a, b int64) int64         { return max(a, b) }
func (maximum) uint(a, b uint64) uint64      { return max(a, b) }

// maxNumber gives the other operand when one is NaN.
type maxNumber struct{ maximum }

func (maxNumber) float32(a, b float32) float32 { return loseMax(a, b) }
func (maxNumber) float64(a, b float64) float64 { return loseMax(a, b) }

func loseMax[T float32 | float64](a, b T) T {
	switch {
	case a != a:
		return b
	case b != b:
		return a
	}
	return max(a, b)
}
