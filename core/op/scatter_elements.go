package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// ScatterReduction says how an update meets what is already there.
type ScatterReduction uint8

// The reductions. With ScatterSet the last of several updates of one element wins.
const (
	ScatterSet ScatterReduction = iota
	ScatterAdd
	ScatterMul
	ScatterMax
	ScatterMin
)

// ScatterElements changes single elements of data along an axis: for axis 0 of rank 3, y[indices[i, j, k], j, k] =
// updates[i, j, k]; all others stay. Updates apply in row-major order; integers wrap around.
//
// Inputs: data of any type (a number with a reduction); indices, integers of data's rank, no larger than data outside
// Axis; updates of data's type and the shape of indices. Output: y of data's type and shape. An index outside [0,
// size), or with NegativeWraps outside [-size, size), fails the run with fault.Data. Source: ONNX ScatterElements-18
// (NegativeWraps).
type ScatterElements struct {
	Axis          int64 // negative counts from the end
	Reduction     ScatterReduction
	NegativeWraps bool
}

func init() { graph.Register[*ScatterElements]("scatter_elements", graph.Traits{InPlace: []int{0}}) }

// AdjustTraits says that elements only move, unless they are combined.
func (o *ScatterElements) AdjustTraits(t graph.Traits) graph.Traits {
	t.Moves = o.Reduction == ScatterSet
	return t
}

// Infer returns the shape of data.
func (o *ScatterElements) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 3, 3, declared, 1, 1); err != nil {
		return nil, err
	}
	if err := scatterTypes(in, o.Reduction); err != nil {
		return nil, err
	}
	if err := elementIndices(in, o.Axis); err != nil {
		return nil, err
	}
	if _, ok := in[1].Shape.Merge(in[2].Shape); !ok {
		return nil, fault.New(fault.Shape, "input 2: want the shape of the indices %v, got %v", in[1].Shape, in[2].Shape)
	}
	return movedOne(declared, in[0], in[0].Shape, sameAxis())
}

// scatterTypes checks data, indices and updates.
func scatterTypes(in []tensor.Fact, r ScatterReduction) error {
	if r > ScatterMin {
		return fault.New(fault.Argument, "reduction: %d is no reduction", r)
	}
	if r != ScatterSet {
		if err := wantTensor(in, 0, "a number", isNumber); err != nil {
			return err
		}
	}
	if err := wantIndex(in, 1); err != nil {
		return err
	}
	return sameKind(in, 0, 2)
}
