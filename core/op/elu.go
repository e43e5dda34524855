package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Elu is y = x for x > 0, Alpha * (exp(x) - 1) otherwise. NaN stays NaN.
//
// Input: x of a float or quantized type. Output: y of x's type and shape. Source: ONNX Elu-6, ANEURALNETWORKS_ELU.
type Elu struct {
	Alpha float32 // the limit for x towards -Inf is -Alpha
}

func init() { graph.Register[*Elu]("elu", graph.Traits{Elementwise: true, InPlace: []int{0}}) }

// Infer returns the input's type and shape.
func (*Elu) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return unary(in, declared, realWords, isReal)
}
