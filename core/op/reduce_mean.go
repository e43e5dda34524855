package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// ReduceMean reduces along axes: each element of y is the arithmetic mean; NaN of nothing. The mean of integers drops
// the fraction; of no integers it is an error of kind fault.Data.
//
// Inputs: x of a float, quantized or integer type; axes?, a list of integers, negative ones counting from the end.
// Output: y of x's type without the reduced dimensions, or with size 1 there (KeepDims). Source: ONNX ReduceMean-18,
// OH_NN_OPS_REDUCE_MEAN, ANEURALNETWORKS_MEAN.
type ReduceMean struct {
	KeepDims      bool
	EmptyAxesKeep bool // absent or empty axes reduce nothing instead of everything
}

func init() { graph.Register[*ReduceMean]("reduce_mean", graph.Traits{ShapeInputs: []int{1}}) }

// Infer returns the reduced shape.
func (o *ReduceMean) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return reduction(in, declared, numberWords, isNumber, o.KeepDims, o.EmptyAxesKeep)
}
