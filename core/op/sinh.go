package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Sinh is y = sinh x.
//
// Input: x of a float or quantized type. Output: y of x's type and shape. Source: ONNX Sinh-9.
type Sinh struct{}

func init() { graph.Register[*Sinh]("sinh", graph.Traits{Elementwise: true, InPlace: []int{0}}) }

// Infer returns the input's type and shape.
func (*Sinh) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return unary(in, declared, realWords, isReal)
}
