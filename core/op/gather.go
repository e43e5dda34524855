package op

import (
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Gather takes slices of x along an axis: y[i.., j.., k..] = x[i.., indices[j..], k..] with i before and k after the
// axis.
//
// Inputs: x of any type; indices, integers of any rank; axis?, one integer (absent: 0). Output: y of x's type and shape
// x.shape[:axis] + indices.shape + x.shape[axis+1:]. An index outside [0, size), or with NegativeWraps outside [-size,
// size), fails the run with fault.Data. Source: ONNX Gather-13 (NegativeWraps), OH_NN_OPS_GATHER,
// ANEURALNETWORKS_GATHER, EMBEDDING_LOOKUP.
type Gather struct {
	NegativeWraps bool
}

func init() { graph.Register[*Gather]("gather", graph.Traits{ShapeInputs: []int{2}, Moves: true}) }

// Infer joins the shapes.
func (o *Gather) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 2, 3, declared, 1, 1); err != nil {
		return nil, err
	}
	if err := wantIndex(in, 1); err != nil {
		return nil, err
	}
	axis := tensor.D(0)
	if present(in, 2) {
		var err error
		if axis, err = single(in, 2); err != nil {
			return nil, err
		}
	}
	x, idx := in[0].Shape, in[1].Shape
	if x.Rank() == 0 {
		return nil, fault.New(fault.Shape, "input 0: want rank 1 or more, got a scalar")
	}
	if !x.Ranked || !idx.Ranked {
		return movedOne(declared, in[0], tensor.AnyShape(), nil)
	}
	if !axis.Known() {
		return movedOne(declared, in[0], tensor.AnyOfRank(x.Rank()-1+idx.Rank()), nil)
	}
	a, err := Axis(axis.N, x.Rank())
	if err != nil {
		return nil, fault.Wrap(err, "input 2")
	}
	dims := slices.Concat(x.Dims[:a], idx.Dims, x.Dims[a+1:])
	out, err := movedOne(declared, in[0], tensor.OfDims(dims...), func(i int) int {
		switch {
		case i < a:
			return i
		case i > a:
			return i - 1 + idx.Rank()
		}
		return -1
	})
	if err == nil && x.Rank() == 1 {
		carry(&out[0], o.pick(values(in[0]), in[1].IntValues()))
	}
	return out, err
}

// pick gathers from a list of known values; indices that are unknown or wrong give unknown values.
func (o *Gather) pick(v, indices []tensor.Dim) []tensor.Dim {
	if v == nil || indices == nil {
		return nil
	}
	out := anyDims(len(indices))
	for i, k := range indices {
		if k.Known() && k.N < 0 && o.NegativeWraps {
			k.N += int64(len(v))
		}
		if k.Known() && k.N >= 0 && k.N < int64(len(v)) {
			out[i] = v[k.N]
		}
	}
	return out
}
