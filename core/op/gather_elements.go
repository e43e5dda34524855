package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// GatherElements takes single elements along an axis: for axis 0 of rank 3, y[i, j, k] = x[indices[i, j, k], j, k].
//
// Inputs: x of any type; indices, integers of x's rank, no larger than x outside Axis. Output: y of x's type and the
// shape of indices. An index outside [0, size), or with NegativeWraps outside [-size, size), fails the run with
// fault.Data. Source: ONNX GatherElements-13 (NegativeWraps).
type GatherElements struct {
	Axis          int64 // negative counts from the end
	NegativeWraps bool
}

func init() { graph.Register[*GatherElements]("gather_elements", graph.Traits{Moves: true}) }

// Infer returns the shape of indices.
func (o *GatherElements) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 2, 2, declared, 1, 1); err != nil {
		return nil, err
	}
	if err := elementIndices(in, o.Axis); err != nil {
		return nil, err
	}
	return movedOne(declared, in[0], in[1].Shape, nil)
}

// elementIndices checks indices that address single elements of x along an axis.
func elementIndices(in []tensor.Fact, axis int64) error {
	if err := wantIndex(in, 1); err != nil {
		return err
	}
	x, idx := in[0].Shape, in[1].Shape
	if x.Rank() == 0 {
		return fault.New(fault.Shape, "input 0: want rank 1 or more, got a scalar")
	}
	rank := max(x.Rank(), idx.Rank())
	if rank < 0 {
		return nil
	}
	a, err := Axis(axis, rank)
	if err != nil {
		return err
	}
	if !x.Ranked || !idx.Ranked {
		return nil
	}
	if x.Rank() != idx.Rank() {
		return fault.New(fault.Shape, "input 1: want rank %d, got %v", x.Rank(), idx)
	}
	for d := range x.Dims {
		if d != a && x.Dims[d].Known() && idx.Dims[d].Known() && idx.Dims[d].N > x.Dims[d].N {
			return fault.New(fault.Shape, "input 1: %v is larger than %v at dimension %d", idx, x, d)
		}
	}
	return nil
}
