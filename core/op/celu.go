package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Celu is y = max(0, x) + min(0, Alpha * (exp(x / Alpha) - 1)).
//
// Input: x of a float or quantized type. Output: y of x's type and shape. Source: ONNX Celu-12.
type Celu struct {
	Alpha float32 // not 0
}

func init() { graph.Register[*Celu]("celu", graph.Traits{Elementwise: true, InPlace: []int{0}}) }

// Infer returns the input's type and shape.
func (o *Celu) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if o.Alpha == 0 {
		return nil, fault.New(fault.Argument, "alpha is 0")
	}
	return unary(in, declared, realWords, isReal)
}
