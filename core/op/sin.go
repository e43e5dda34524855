package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Sin is y = sin x, x in radians; NaN for infinities.
//
// Input: x of a float or quantized type. Output: y of x's type and shape. Source: ONNX Sin-7, OH_NN_OPS_SIN,
// ANEURALNETWORKS_SIN.
type Sin struct{}

func init() { graph.Register[*Sin]("sin", graph.Traits{Elementwise: true, InPlace: []int{0}}) }

// Infer returns the input's type and shape.
func (*Sin) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return unary(in, declared, realWords, isReal)
}
