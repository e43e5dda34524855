package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// IsInf is y = true where x is an infinity of a wanted sign; with neither sign wanted it is false everywhere.
//
// Input: x of a float or quantized type. Output: bool of the shape of x. Source: ONNX IsInf-20.
type IsInf struct {
	Negative bool // -Inf gives true
	Positive bool // +Inf gives true
}

func init() { graph.Register[*IsInf]("is_inf", graph.Traits{Elementwise: true}) }

// Infer returns a bool of the input's shape.
func (*IsInf) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return predicate(in, declared, realWords, isReal)
}
