package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Exp is y = Base^(Shift + Scale * x).
//
// Input: x of a float or quantized type. Output: y of x's type and shape. Source: ONNX Exp-13 and ANEURALNETWORKS_EXP
// (zero struct), OH_NN_OPS_EXP.
type Exp struct {
	Base  float32 // > 0; 0 stands for e
	Scale float32 // 0 stands for 1
	Shift float32
}

func init() {
	graph.Register[*Exp]("exp", graph.Traits{Elementwise: true, InPlace: []int{0}, Sign: graph.NonNegative})
}

// Infer returns the input's type and shape.
func (o *Exp) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if !(o.Base >= 0) {
		return nil, fault.New(fault.Argument, "base %v is negative", o.Base)
	}
	return unary(in, declared, realWords, isReal)
}
