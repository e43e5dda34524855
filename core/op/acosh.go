package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Acosh is y = arcosh x; NaN for x < 1.
//
// Input: x of a float or quantized type. Output: y of x's type and shape. Source: ONNX Acosh-9.
type Acosh struct{}

func init() { graph.Register[*Acosh]("acosh", graph.Traits{Elementwise: true, InPlace: []int{0}}) }

// Infer returns the input's type and shape.
func (*Acosh) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return unary(in, declared, realWords, isReal)
}
