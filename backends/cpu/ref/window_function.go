package ref

import (
	"math"

	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(o *op.HannWindow, _ []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		return cosines(out[0], o.Periodic, 0.5, -0.5, 0)
	})
	register(Real, func(o *op.HammingWindow, _ []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		return cosines(out[0], o.Periodic, 25.0/46, -21.0/46, 0)
	})
	register(Real, func(o *op.BlackmanWindow, _ []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		return cosines(out[0], o.Periodic, 0.42, -0.5, 0.08)
	})
}

// cosines returns the window a + b·cos(2πt/n) + c·cos(4πt/n).
func cosines(t tensor.Type, periodic bool, a, b, c float64) ([]tensor.Tensor, error) {
	y := like(t)
	size := y.Count()
	n := float64(size - 1)
	if periodic {
		n = float64(size)
	}
	for i := range size {
		tick()
		w := 1.0
		if n > 0 {
			x := 2 * math.Pi * float64(i) / n
			w = a + b*math.Cos(x) + c*math.Cos(2*x)
		}
		putNumber(y, i, w)
	}
	return []tensor.Tensor{y}, nil
}
