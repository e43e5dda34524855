package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// ThresholdedRelu is y = x for x > Alpha, 0 otherwise. NaN gives 0.
//
// Input: x of a float or quantized type. Output: y of x's type and shape. Source: ONNX ThresholdedRelu-10.
type ThresholdedRelu struct {
	Alpha float32 // threshold
}

func init() {
	graph.Register[*ThresholdedRelu]("thresholded_relu", graph.Traits{Elementwise: true, InPlace: []int{0}})
}

// Infer returns the input's type and shape.
func (*ThresholdedRelu) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return unary(in, declared, realWords, isReal)
}
