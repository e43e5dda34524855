package op

import (
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// ScatterND changes slices of data at index vectors: y[indices[i.., :], s..] = updates[i.., s..]; all others stay.
// Updates apply in row-major order; integers wrap around.
//
// Inputs: data of any type (a number with a reduction); indices, integers [i.., k], k at most data's rank; updates of
// data's type and shape indices.shape[:-1] + data.shape[k:]. Output: y of data's type and shape. An index outside [0,
// size), or with NegativeWraps outside [-size, size), fails the run with fault.Data. Source: ONNX ScatterND-18
// (NegativeWraps); OH_NN_OPS_SCATTER_ND and OH_NN_OPS_SPARSE_TO_DENSE scatter into zeros.
type ScatterND struct {
	Reduction     ScatterReduction
	NegativeWraps bool
}

func init() { graph.Register[*ScatterND]("scatter_nd", graph.Traits{InPlace: []int{0}}) }

// AdjustTraits says that elements only move, unless they are combined.
func (o *ScatterND) AdjustTraits(t graph.Traits) graph.Traits {
	t.Moves = o.Reduction == ScatterSet
	return t
}

// Infer returns the shape of data.
func (o *ScatterND) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 3, 3, declared, 1, 1); err != nil {
		return nil, err
	}
	if err := scatterTypes(in, o.Reduction); err != nil {
		return nil, err
	}
	x, idx, u := in[0].Shape, in[1].Shape, in[2].Shape
	if idx.Rank() == 0 {
		return nil, fault.New(fault.Shape, "input 1: want rank 1 or more, got a scalar")
	}
	if x.Ranked && idx.Ranked && idx.Dims[idx.Rank()-1].Known() {
		k := idx.Dims[idx.Rank()-1].N
		if k < 0 || k > int64(x.Rank()) {
			return nil, fault.New(fault.Shape, "input 1: index vectors of length %d for %v", k, x)
		}
		want := tensor.OfDims(slices.Concat(idx.Dims[:idx.Rank()-1], x.Dims[k:])...)
		if _, ok := want.Merge(u); !ok {
			return nil, fault.New(fault.Shape, "input 2: want %v, got %v", want, u)
		}
	}
	return movedOne(declared, in[0], x, sameAxis())
}
