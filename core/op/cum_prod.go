package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// CumProd is the running product along an axis: y[i] is the product of x[0..i], without x[i] when Exclusive (y[0] is 1
// then), and of x[i..last] when Reverse. Integers wrap around; floats are accumulated in float64.
//
// Inputs: x of a float, quantized or integer type; axis, one integer, negative from the end. Output: y of x's type and
// shape. Source: ONNX CumProd-26.
type CumProd struct {
	Exclusive bool
	Reverse   bool
}

func init() { graph.Register[*CumProd]("cum_prod", graph.Traits{ShapeInputs: []int{1}}) }

// Infer returns the type and shape of x.
func (*CumProd) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return cumulative(in, declared)
}
