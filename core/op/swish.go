package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Swish is y = x * sigmoid(Alpha * x); NaN for -Inf with positive Alpha, as the formula gives.
//
// Input: x of a float or quantized type. Output: y of x's type and shape. Source: OH_NN_OPS_SWISH; ONNX Swish-24.
type Swish struct {
	Alpha float32 // 0 stands for 1
}

func init() { graph.Register[*Swish]("swish", graph.Traits{Elementwise: true, InPlace: []int{0}}) }

// Infer returns the input's type and shape.
func (*Swish) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return unary(in, declared, realWords, isReal)
}
