package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Mish is y = x * tanh(ln(1 + exp(x))).
//
// Input: x of a float or quantized type. Output: y of x's type and shape. Source: ONNX Mish-18.
type Mish struct{}

func init() { graph.Register[*Mish]("mish", graph.Traits{Elementwise: true, InPlace: []int{0}}) }

// Infer returns the input's type and shape.
func (*Mish) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return unary(in, declared, realWords, isReal)
}
