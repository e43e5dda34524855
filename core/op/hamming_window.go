package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// HammingWindow is w[t] = 25/46 - 21/46·cos(2πt/n), with n = size-1, or size with Periodic; a symmetric window of size
// 1 is [1].
//
// Input: size, one integer. Output: w [size] of type To (0: float32), truncated toward zero for integers. Source: ONNX
// HammingWindow-17.
type HammingWindow struct {
	Periodic bool
	To       tensor.DType
}

func init() { graph.Register[*HammingWindow]("hamming_window", graph.Traits{ShapeInputs: []int{0}}) }

// Infer returns the size.
func (o *HammingWindow) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return windowFunction(in, declared, o.To)
}
