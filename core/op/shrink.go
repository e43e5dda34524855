package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Shrink is y = x + Bias for x < -Lambda, x - Bias for x > Lambda, 0 between and for NaN. Integers are computed as
// reals, truncated towards zero and saturated.
//
// Input: x of a float, quantized or integer type. Output: y of x's type and shape. Source: ONNX Shrink-9.
type Shrink struct {
	Lambda float32 // half the width of the dead zone
	Bias   float32
}

func init() { graph.Register[*Shrink]("shrink", graph.Traits{Elementwise: true, InPlace: []int{0}}) }

// Infer returns the input's type and shape.
func (*Shrink) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return unary(in, declared, numberWords, isNumber)
}
