package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// BlackmanWindow is w[t] = 0.42 - 0.5·cos(2πt/n) + 0.08·cos(4πt/n), with n = size-1, or size with Periodic; a symmetric
// window of size 1 is [1].
//
// Input: size, one integer. Output: w [size] of type To (0: float32), truncated toward zero for integers. Source: ONNX
// BlackmanWindow-17.
type BlackmanWindow struct {
	Periodic bool
	To       tensor.DType
}

func init() { graph.Register[*BlackmanWindow]("blackman_window", graph.Traits{ShapeInputs: []int{0}}) }

// Infer returns the size.
func (o *BlackmanWindow) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return windowFunction(in, declared, o.To)
}
