package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// GeluForm selects the formula of Gelu.
type GeluForm uint8

// The formulas.
const (
	GeluErf  GeluForm = iota // exact
	GeluTanh                 // approximation by tanh
)

// Gelu is y = x * P(X <= x) of a standard normal X. GeluErf: 0.5 x (1 + erf(x / sqrt 2)).
// GeluTanh: 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
//
// Input: x of a float or quantized type. Output: y of x's type and shape. Source: ONNX Gelu-20, OH_NN_OPS_GELU.
type Gelu struct {
	Approximate GeluForm // which formula
}

func init() { graph.Register[*Gelu]("gelu", graph.Traits{Elementwise: true, InPlace: []int{0}}) }

// Infer returns the input's type and shape.
func (o *Gelu) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if o.Approximate > GeluTanh {
		return nil, fault.New(fault.Argument, "approximate: %d is no formula", o.Approximate)
	}
	return unary(in, declared, realWords, isReal)
}
