package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// IsNaN is y = true where x is not a number.
//
// Input: x of a float or quantized type. Output: bool of the shape of x. Source: ONNX IsNaN-20.
type IsNaN struct{}

func init() { graph.Register[*IsNaN]("is_nan", graph.Traits{Elementwise: true}) }

// Infer returns a bool of the input's shape.
func (*IsNaN) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return predicate(in, declared, realWords, isReal)
}
