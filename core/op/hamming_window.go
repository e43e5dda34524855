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

func init() { graph.Register((*HammingWindow)(nil)) }

// Name returns "hamming_window".
func (*HammingWindow) Name() string { return "hamming_window" }

// Traits: the value of size decides the output's shape.
func (*HammingWindow) Traits() graph.Traits { return graph.Traits{ShapeInputs: []int{0}} }

// Infer returns the size.
func (o *HammingWindow) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return windowFunction(in, declared, o.To)
}
