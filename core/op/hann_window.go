package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// HannWindow is w[t] = 1/2 - cos(2πt/n)/2, with n = size-1, or size with Periodic; a symmetric window of size 1 is [1].
//
// Input: size, one integer. Output: w [size] of type To (0: float32), truncated toward zero for integers. Source: ONNX
// HannWindow-17.
type HannWindow struct {
	Periodic bool
	To       tensor.DType
}

func init() { graph.Register[*HannWindow]("hann_window", graph.Traits{ShapeInputs: []int{0}}) }

// Infer returns the size.
func (o *HannWindow) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return windowFunction(in, declared, o.To)
}
