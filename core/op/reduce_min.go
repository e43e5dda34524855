package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// ReduceMin reduces along axes: each element of y is the smallest element, NaN if one is NaN; of nothing +Inf, or the
// largest value of the type.
//
// Inputs: x of a float, quantized, integer or bool type; axes?, a list of integers, negative ones counting from the
// end. Output: y of x's type without the reduced dimensions, or with size 1 there (KeepDims). Source: ONNX
// ReduceMin-20, OH_NN_OPS_REDUCE_MIN, ANEURALNETWORKS_REDUCE_MIN.
type ReduceMin struct {
	KeepDims      bool
	EmptyAxesKeep bool // absent or empty axes reduce nothing instead of everything
}

func init() { graph.Register[*ReduceMin]("reduce_min", graph.Traits{ShapeInputs: []int{1}}) }

// Infer returns the reduced shape, with the value of a fully reduced list of small integers.
func (o *ReduceMin) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	out, err := reduction(in, declared, numberOrBoolWords, isNumberOrBool, o.KeepDims, o.EmptyAxesKeep)
	if err != nil {
		return nil, err
	}
	out[0].Ints = foldReduce(in[0], out[0], func(a, b int64) int64 { return min(a, b) })
	return out, nil
}
