package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Asin is y = arcsin x in radians; NaN outside [-1, 1].
//
// Input: x of a float or quantized type. Output: y of x's type and shape. Source: ONNX Asin-7.
type Asin struct{}

func init() { graph.Register[*Asin]("asin", graph.Traits{Elementwise: true, InPlace: []int{0}}) }

// Infer returns the input's type and shape.
func (*Asin) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return unary(in, declared, realWords, isReal)
}
