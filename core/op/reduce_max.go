package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// ReduceMax reduces along axes: each element of y is the largest element, NaN if one is NaN; of nothing -Inf, or the
// smallest value of the type.
//
// Inputs: x of a float, quantized, integer or bool type; axes?, a list of integers, negative ones counting from the
// end. Output: y of x's type without the reduced dimensions, or with size 1 there (KeepDims). Source: ONNX
// ReduceMax-20, OH_NN_OPS_REDUCE_MAX, ANEURALNETWORKS_REDUCE_MAX.
type ReduceMax struct {
	KeepDims      bool
	EmptyAxesKeep bool // absent or empty axes reduce nothing instead of everything
}

func init() { graph.Register[*ReduceMax]("reduce_max", graph.Traits{ShapeInputs: []int{1}}) }

// Infer returns the reduced shape, with the value of a fully reduced list of small integers.
func (o *ReduceMax) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	out, err := reduction(in, declared, numberOrBoolWords, isNumberOrBool, o.KeepDims, o.EmptyAxesKeep)
	if err != nil {
		return nil, err
	}
	out[0].Ints = foldReduce(in[0], out[0], func(a, b int64) int64 { return max(a, b) })
	return out, nil
}
