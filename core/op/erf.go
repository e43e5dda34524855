package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Erf is y = erf x, the error function 2/sqrt(pi) times the integral of exp(-t^2) from 0 to x.
//
// Input: x of a float or quantized type. Output: y of x's type and shape. Source: ONNX Erf-13, OH_NN_OPS_ERF.
type Erf struct{}

func init() { graph.Register[*Erf]("erf", graph.Traits{Elementwise: true, InPlace: []int{0}}) }

// Infer returns the input's type and shape.
func (*Erf) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return unary(in, declared, realWords, isReal)
}
