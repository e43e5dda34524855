package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Asinh is y = arsinh x.
//
// Input: x of a float or quantized type. Output: y of x's type and shape. Source: ONNX Asinh-9.
type Asinh struct{}

func init() { graph.Register[*Asinh]("asinh", graph.Traits{Elementwise: true, InPlace: []int{0}}) }

// Infer returns the input's type and shape.
func (*Asinh) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return unary(in, declared, realWords, isReal)
}
