package op

import (
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Fill makes a tensor all of whose elements are one value.
//
// Inputs: shape, integers [r], not negative; value, one element of any type. Output: y of the value's type.
// Source: ONNX ConstantOfShape-21, OH_NN_OPS_FILL, OH_NN_OPS_CONSTANT_OF_SHAPE, ANEURALNETWORKS_FILL.
type Fill struct{}

func init() { graph.Register[*Fill]("fill", graph.Traits{ShapeInputs: []int{0}, Moves: true}) }

// Infer returns the shape as far as its values are known.
func (*Fill) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 2, 2, declared, 1, 1); err != nil {
		return nil, err
	}
	v, known, err := vector(in, 0)
	if err != nil {
		return nil, err
	}
	if err := wantScalar(in, 1); err != nil {
		return nil, err
	}
	s := tensor.AnyShape()
	if known {
		if s, err = wantDims(v); err != nil {
			return nil, fault.Wrap(err, "input 0")
		}
	}
	out, err := movedOne(declared, in[1], s, nil)
	if err != nil {
		return nil, err
	}
	if n, ok := foldable(out[0]); ok {
		if one := in[1].IntValues(); len(one) == 1 {
			carry(&out[0], slices.Repeat(one, n))
		}
	}
	return out, nil
}
