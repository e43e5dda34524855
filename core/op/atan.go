package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Atan is y = arctan x in radians; +-pi/2 for infinities.
//
// Input: x of a float or quantized type. Output: y of x's type and shape. Source: ONNX Atan-7.
type Atan struct{}

func init() { graph.Register[*Atan]("atan", graph.Traits{Elementwise: true, InPlace: []int{0}}) }

// Infer returns the input's type and shape.
func (*Atan) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return unary(in, declared, realWords, isReal)
}
