package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// ReduceL2 reduces along axes: each element of y is the square root of the sum of squares; 0 of nothing. Integers:
// computed as real values, then the fraction is dropped.
//
// Inputs: x of a float, quantized or integer type; axes?, a list of integers, negative ones counting from the end.
// Output: y of x's type without the reduced dimensions, or with size 1 there (KeepDims). Source: ONNX ReduceL2-18,
// OH_NN_OPS_REDUCE_L2.
type ReduceL2 struct {
	KeepDims      bool
	EmptyAxesKeep bool // absent or empty axes reduce nothing instead of everything
}

func init() { graph.Register[*ReduceL2]("reduce_l2", graph.Traits{ShapeInputs: []int{1}}) }

// Infer returns the reduced shape.
func (o *ReduceL2) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return reduction(in, declared, numberWords, isNumber, o.KeepDims, o.EmptyAxesKeep)
}
