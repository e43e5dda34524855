package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// LogSoftmax is y = x - m - ln(sum of exp(x - m)) along Axis, m being the largest element of the line. A line with +Inf
// or NaN, or of -Inf only, gives NaN.
//
// Input: x of a float or quantized type, rank >= 1. Output: y of x's type and shape.
// Source: ONNX LogSoftmax-13, OH_NN_OPS_LOG_SOFTMAX, ANEURALNETWORKS_LOG_SOFTMAX with beta 1.
type LogSoftmax struct {
	Axis int64
}

func init() { graph.Register((*LogSoftmax)(nil)) }

// Name returns "log_softmax".
func (*LogSoftmax) Name() string { return "log_softmax" }

// Traits: may reuse the input's memory.
func (*LogSoftmax) Traits() graph.Traits { return graph.Traits{InPlace: []int{0}} }

// Infer returns the input's type and shape.
func (o *LogSoftmax) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return alongAxis(in, declared, o.Axis)
}
