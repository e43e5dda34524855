package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Tanh is y = tanh x; +-1 for infinities.
//
// Input: x of a float or quantized type. Output: y of x's type and shape. Source: ONNX Tanh-13, OH_NN_OPS_TANH,
// ANEURALNETWORKS_TANH.
type Tanh struct{}

func init() { graph.Register[*Tanh]("tanh", graph.Traits{Elementwise: true, InPlace: []int{0}}) }

// Infer returns the input's type and shape.
func (*Tanh) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return unary(in, declared, realWords, isReal)
}
