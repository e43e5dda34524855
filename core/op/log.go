package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Log is y = the natural logarithm of x; -Inf for 0, NaN for x < 0.
//
// Input: x of a float or quantized type. Output: y of x's type and shape. Source: ONNX Log-13, OH_NN_OPS_LOG,
// ANEURALNETWORKS_LOG.
type Log struct{}

func init() { graph.Register[*Log]("log", graph.Traits{Elementwise: true, InPlace: []int{0}}) }

// Infer returns the input's type and shape.
func (*Log) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return unary(in, declared, realWords, isReal)
}
