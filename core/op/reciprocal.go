package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Reciprocal is y = 1 / x; infinite for zero, with its sign.
//
// Input: x of a float or quantized type. Output: y of x's type and shape. Source: ONNX Reciprocal-13,
// OH_NN_OPS_RECIPROCAL.
type Reciprocal struct{}

func init() {
	graph.Register[*Reciprocal]("reciprocal", graph.Traits{Elementwise: true, InPlace: []int{0}})
}

// Infer returns the input's type and shape.
func (*Reciprocal) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return unary(in, declared, realWords, isReal)
}
