package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// ReduceLogSumExp reduces along axes: each element of y is the natural logarithm of the sum of exponentials, without
// overflow; -Inf of nothing. Integers: computed as real values, then the fraction is dropped.
//
// Inputs: x of a float, quantized or integer type; axes?, a list of integers, negative ones counting from the end.
// Output: y of x's type without the reduced dimensions, or with size 1 there (KeepDims). Source: ONNX
// ReduceLogSumExp-18.
type ReduceLogSumExp struct {
	KeepDims      bool
	EmptyAxesKeep bool // absent or empty axes reduce nothing instead of everything
}

func init() {
	graph.Register[*ReduceLogSumExp]("reduce_log_sum_exp", graph.Traits{ShapeInputs: []int{1}})
}

// Infer returns the reduced shape.
func (o *ReduceLogSumExp) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return reduction(in, declared, numberWords, isNumber, o.KeepDims, o.EmptyAxesKeep)
}
