package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Softplus is y = ln(1 + exp(x)), without overflow for large x.
//
// Input: x of a float or quantized type. Output: y of x's type and shape. Source: ONNX Softplus-1.
type Softplus struct{}

func init() {
	graph.Register[*Softplus]("softplus", graph.Traits{Elementwise: true, InPlace: []int{0}, Sign: graph.NonNegative})
}

// Infer returns the input's type and shape.
func (*Softplus) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return unary(in, declared, realWords, isReal)
}
