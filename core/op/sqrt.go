package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Sqrt is y = the square root of x; NaN for x < 0, -0 for -0.
//
// Input: x of a float or quantized type. Output: y of x's type and shape. Source: ONNX Sqrt-13, OH_NN_OPS_SQRT,
// ANEURALNETWORKS_SQRT.
type Sqrt struct{}

func init() { graph.Register[*Sqrt]("sqrt", graph.Traits{Elementwise: true, InPlace: []int{0}}) }

// Infer returns the input's type and shape.
func (*Sqrt) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return unary(in, declared, realWords, isReal)
}
