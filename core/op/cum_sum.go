package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// CumSum is the running sum along an axis: y[i] is the sum of x[0..i], without x[i] when Exclusive (y[0] is 0 then),
// and of x[i..last] when Reverse. Integers wrap around; floats are accumulated in float64.
//
// Inputs: x of a float, quantized or integer type; axis, one integer, negative from the end. Output: y of x's type and
// shape. Source: ONNX CumSum-14.
type CumSum struct {
	Exclusive bool
	Reverse   bool
}

func init() { graph.Register[*CumSum]("cum_sum", graph.Traits{ShapeInputs: []int{1}}) }

// Infer returns the type and shape of x.
func (*CumSum) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return cumulative(in, declared)
}
