package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Selu is y = Gamma * x for x > 0, Gamma * Alpha * (exp(x) - 1) otherwise. NaN stays NaN.
//
// Input: x of a float or quantized type. Output: y of x's type and shape. Source: ONNX Selu-6.
type Selu struct {
	Alpha float32
	Gamma float32
}

func init() { graph.Register[*Selu]("selu", graph.Traits{Elementwise: true, InPlace: []int{0}}) }

// Infer returns the input's type and shape.
func (*Selu) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return unary(in, declared, realWords, isReal)
}
