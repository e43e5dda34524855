package op

import (
	"math"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Assert fails the run with fault.Data when an element of cond is false.
//
// Inputs: cond, bool of any shape; data..., any tensors, whose first elements appear in the error. Output: cond.
// Source: OH_NN_OPS_ASSERT.
type Assert struct{}

func init() { graph.Register[*Assert]("assert", graph.Traits{Effect: true}) }

// Infer returns cond's shape.
func (*Assert) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 1, math.MaxInt32, declared, 1, 1); err != nil {
		return nil, err
	}
	if err := wantType(in, 0, "bool", func(d tensor.DType) bool { return d == tensor.Bool }); err != nil {
		return nil, err
	}
	return []tensor.Fact{{Type: tensor.Type{DType: tensor.Bool, Shape: in[0].Shape}}}, nil
}
