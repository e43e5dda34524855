package op

import (
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Expand broadcasts x and a shape against each other, as NumPy does: a size of 1 on either side takes the other's.
//
// Inputs: x of any type; shape, integers [r], not negative. Output: y of x's type with the common shape.
// Source: ONNX Expand-13, OH_NN_OPS_BROADCAST_TO.
type Expand struct{}

func init() { graph.Register[*Expand]("expand", graph.Traits{ShapeInputs: []int{1}, Moves: true}) }

// Infer returns the common shape.
func (*Expand) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 2, 2, declared, 1, 1); err != nil {
		return nil, err
	}
	v, known, err := vector(in, 1)
	if err != nil {
		return nil, err
	}
	if !known {
		return movedOne(declared, in[0], tensor.AnyShape(), nil)
	}
	to, err := wantDims(v)
	if err != nil {
		return nil, fault.Wrap(err, "input 1")
	}
	s, err := tensor.Broadcast(in[0].Shape, to)
	if err != nil {
		return nil, fault.New(fault.Shape, "inputs 0 and 1: %v", err)
	}
	x := in[0].Shape
	out, err := movedOne(declared, in[0], s, func(a int) int {
		b := a + s.Rank() - x.Rank()
		if s.Ranked && x.Ranked && a < x.Rank() && s.Dims[b].Same(x.Dims[a]) {
			return b
		}
		return -1
	})
	if err != nil {
		return nil, err
	}
	if n, ok := foldable(out[0]); ok {
		if one := values(in[0]); len(one) == 1 {
			carry(&out[0], slices.Repeat(one, n))
		} else {
			carry(&out[0], one)
		}
	}
	return out, nil
}
