package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Sigmoid is y = 1 / (1 + exp(-x)); 0 and 1 for infinities.
//
// Input: x of a float or quantized type. Output: y of x's type and shape. Source: ONNX Sigmoid-13, OH_NN_OPS_SIGMOID,
// ANEURALNETWORKS_LOGISTIC.
type Sigmoid struct{}

func init() {
	graph.Register[*Sigmoid]("sigmoid", graph.Traits{Elementwise: true, InPlace: []int{0}, Sign: graph.NonNegative})
}

// Infer returns the input's type and shape.
func (*Sigmoid) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return unary(in, declared, realWords, isReal)
}
