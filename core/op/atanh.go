package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Atanh is y = artanh x; infinite for +-1, NaN outside [-1, 1].
//
// Input: x of a float or quantized type. Output: y of x's type and shape. Source: ONNX Atanh-9.
type Atanh struct{}

func init() { graph.Register[*Atanh]("atanh", graph.Traits{Elementwise: true, InPlace: []int{0}}) }

// Infer returns the input's type and shape.
func (*Atanh) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return unary(in, declared, realWords, isReal)
}
