package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Cosh is y = cosh x.
//
// Input: x of a float or quantized type. Output: y of x's type and shape. Source: ONNX Cosh-9.
type Cosh struct{}

func init() { graph.Register[*Cosh]("cosh", graph.Traits{Elementwise: true, InPlace: []int{0}}) }

// Infer returns the input's type and shape.
func (*Cosh) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return unary(in, declared, realWords, isReal)
}
