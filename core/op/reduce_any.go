package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// ReduceAny reduces along axes: each element of y is true when at least one element is true (not 0); false of nothing.
//
// Inputs: x of a float, quantized, integer or bool type; axes?, a list of integers, negative ones counting from the
// end. Output: y bool without the reduced dimensions, or with size 1 there (KeepDims). Source:
// ANEURALNETWORKS_REDUCE_ANY.
type ReduceAny struct {
	KeepDims      bool
	EmptyAxesKeep bool // absent or empty axes reduce nothing instead of everything
}

func init() { graph.Register[*ReduceAny]("reduce_any", graph.Traits{ShapeInputs: []int{1}}) }

// Infer returns the reduced shape.
func (o *ReduceAny) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	out, err := reduction(in, declared, numberOrBoolWords, isNumberOrBool, o.KeepDims, o.EmptyAxesKeep)
	if err != nil {
		return nil, err
	}
	return []tensor.Fact{{Type: tensor.Type{DType: tensor.Bool, Shape: out[0].Shape}}}, nil
}
