package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Trilu keeps a triangle of each matrix and sets the rest to 0: with Upper the cells j - i >= k, otherwise those with j
// - i <= k.
//
// Inputs: x of any type, rank 2 or more, matrices in the last two dimensions; k?, one integer (absent: 0). Output: y
// like x. Source: ONNX Trilu-14.
type Trilu struct {
	Upper bool
}

func init() { graph.Register[*Trilu]("trilu", graph.Traits{InPlace: []int{0}, Moves: true}) }

// Infer returns the shape of x.
func (*Trilu) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 1, 2, declared, 1, 1); err != nil {
		return nil, err
	}
	if r := in[0].Shape.Rank(); r == 0 || r == 1 {
		return nil, fault.New(fault.Shape, "input 0: want rank 2 or more, got %v", in[0].Shape)
	}
	if present(in, 1) {
		if _, err := single(in, 1); err != nil {
			return nil, err
		}
	}
	return movedOne(declared, in[0], in[0].Shape, sameAxis())
}
