package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// LeakyRelu is y = x for x >= 0, Alpha * x otherwise. NaN stays NaN.
//
// Input: x of a float or quantized type. Output: y of x's type and shape. Source: ONNX LeakyRelu-16,
// OH_NN_OPS_LEAKY_RELU.
type LeakyRelu struct {
	Alpha float32 // slope for negative x
}

func init() {
	graph.Register[*LeakyRelu]("leaky_relu", graph.Traits{Elementwise: true, InPlace: []int{0}})
}

// Infer returns the input's type and shape.
func (*LeakyRelu) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return unary(in, declared, realWords, isReal)
}
