package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Rsqrt is y = 1 / sqrt(x); NaN for x < 0, +Inf for 0, -Inf for -0.
//
// Input: x of a float or quantized type. Output: y of x's type and shape. Source: OH_NN_OPS_RSQRT,
// ANEURALNETWORKS_RSQRT.
type Rsqrt struct{}

func init() { graph.Register[*Rsqrt]("rsqrt", graph.Traits{Elementwise: true, InPlace: []int{0}}) }

// Infer returns the input's type and shape.
func (*Rsqrt) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return unary(in, declared, realWords, isReal)
}
