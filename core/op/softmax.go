package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Softmax is y = exp(x - m) / sum of exp(x - m) along Axis, m being the largest element of the line. A line with +Inf
// or NaN, or of -Inf only, gives NaN.
//
// Input: x of a float or quantized type, rank >= 1. Output: y of x's type and shape.
// Source: ONNX Softmax-13, OH_NN_OPS_SOFTMAX, ANEURALNETWORKS_SOFTMAX with beta 1.
type Softmax struct {
	Axis int64
}

func init() { graph.Register((*Softmax)(nil)) }

// Name returns "softmax".
func (*Softmax) Name() string { return "softmax" }

// Traits: may reuse the input's memory.
func (*Softmax) Traits() graph.Traits {
	return graph.Traits{InPlace: []int{0}, Sign: graph.NonNegative}
}

// Infer returns the input's type and shape.
func (o *Softmax) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return alongAxis(in, declared, o.Axis)
}
