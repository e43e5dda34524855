package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// ReduceL1 reduces along axes: each element of y is the sum of absolute values; 0 of nothing. Integers wrap around.
//
// Inputs: x of a float, quantized or integer type; axes?, a list of integers, negative ones counting from the end.
// Output: y of x's type without the reduced dimensions, or with size 1 there (KeepDims). Source: ONNX ReduceL1-18.
type ReduceL1 struct {
	KeepDims      bool
	EmptyAxesKeep bool // absent or empty axes reduce nothing instead of everything
}

func init() { graph.Register[*ReduceL1]("reduce_l1", graph.Traits{ShapeInputs: []int{1}}) }

// Infer returns the reduced shape.
func (o *ReduceL1) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return reduction(in, declared, numberWords, isNumber, o.KeepDims, o.EmptyAxesKeep)
}
