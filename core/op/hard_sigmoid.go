package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// HardSigmoid is y = max(0, min(1, Alpha * x + Beta)).
//
// Input: x of a float or quantized type. Output: y of x's type and shape. Source: ONNX HardSigmoid-6;
// OH_NN_OPS_HARD_SIGMOID with Alpha 1/6, Beta 1/2.
type HardSigmoid struct {
	Alpha float32 // slope
	Beta  float32 // value at 0
}

func init() {
	graph.Register[*HardSigmoid]("hard_sigmoid", graph.Traits{Elementwise: true, InPlace: []int{0},
		Sign: graph.NonNegative})
}

// Infer returns the input's type and shape.
func (*HardSigmoid) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return unary(in, declared, realWords, isReal)
}
