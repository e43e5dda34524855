package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Cos is y = cos x, x in radians; NaN for infinities.
//
// Input: x of a float or quantized type. Output: y of x's type and shape. Source: ONNX Cos-7, OH_NN_OPS_COS.
type Cos struct{}

func init() { graph.Register[*Cos]("cos", graph.Traits{Elementwise: true, InPlace: []int{0}}) }

// Infer returns the input's type and shape.
func (*Cos) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return unary(in, declared, realWords, isReal)
}
