package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Acos is y = arccos x in radians, 0 to pi; NaN outside [-1, 1].
//
// Input: x of a float or quantized type. Output: y of x's type and shape. Source: ONNX Acos-7.
type Acos struct{}

func init() { graph.Register[*Acos]("acos", graph.Traits{Elementwise: true, InPlace: []int{0}}) }

// Infer returns the input's type and shape.
func (*Acos) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return unary(in, declared, realWords, isReal)
}
