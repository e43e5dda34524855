package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Tan is y = tan x, x in radians; NaN for infinities.
//
// Input: x of a float or quantized type. Output: y of x's type and shape. Source: ONNX Tan-7.
type Tan struct{}

func init() { graph.Register[*Tan]("tan", graph.Traits{Elementwise: true, InPlace: []int{0}}) }

// Infer returns the input's type and shape.
func (*Tan) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return unary(in, declared, realWords, isReal)
}
