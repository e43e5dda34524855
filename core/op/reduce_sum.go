package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// ReduceSum reduces along axes: each element of y is the sum; 0 of nothing. Integers wrap around.
//
// Inputs: x of a float, quantized or integer type; axes?, a list of integers, negative ones counting from the end.
// Output: y of x's type without the reduced dimensions, or with size 1 there (KeepDims). Source: ONNX ReduceSum-13,
// OH_NN_OPS_REDUCE_SUM, ANEURALNETWORKS_REDUCE_SUM.
type ReduceSum struct {
	KeepDims      bool
	EmptyAxesKeep bool // absent or empty axes reduce nothing instead of everything
}

func init() { graph.Register[*ReduceSum]("reduce_sum", graph.Traits{ShapeInputs: []int{1}}) }

// Infer returns the reduced shape, with the value of a fully reduced list of small integers.
func (o *ReduceSum) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	out, err := reduction(in, declared, numberWords, isNumber, o.KeepDims, o.EmptyAxesKeep)
	if err != nil {
		return nil, err
	}
	out[0].Ints = foldReduce(in[0], out[0], func(a, b int64) int64 { return a + b })
	return out, nil
}
