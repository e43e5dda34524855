package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// HardSwish is y = x * max(0, min(6, x + 3)) / 6; NaN for -Inf, as the formula gives.
//
// Input: x of a float or quantized type. Output: y of x's type and shape. Source: ONNX HardSwish-14, OH_NN_OPS_HSWISH,
// ANEURALNETWORKS_HARD_SWISH.
type HardSwish struct{}

func init() {
	graph.Register[*HardSwish]("hard_swish", graph.Traits{Elementwise: true, InPlace: []int{0}})
}

// Infer returns the input's type and shape.
func (*HardSwish) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return unary(in, declared, realWords, isReal)
}
