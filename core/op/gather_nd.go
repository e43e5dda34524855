package op

import (
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// GatherND takes slices of x at index vectors: y[b.., i.., s..] = x[b.., indices[b.., i.., :], s..], b being the
// BatchDims leading dimensions.
//
// Inputs: x of any type; indices, integers [b.., i.., k], k at most the rank of x without b. Output: y of x's type and
// shape indices.shape[:-1] + x.shape[BatchDims+k:]. An index outside [0, size), or with NegativeWraps outside [-size,
// size), fails the run with fault.Data. Source: ONNX GatherND-13 (NegativeWraps), OH_NN_OPS_GATHER_ND.
type GatherND struct {
	BatchDims     int64
	NegativeWraps bool
}

func init() { graph.Register[*GatherND]("gather_nd", graph.Traits{Moves: true}) }

// Infer joins the shapes.
func (o *GatherND) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 2, 2, declared, 1, 1); err != nil {
		return nil, err
	}
	if err := wantIndex(in, 1); err != nil {
		return nil, err
	}
	x, idx := in[0].Shape, in[1].Shape
	if idx.Rank() == 0 {
		return nil, fault.New(fault.Shape, "input 1: want rank 1 or more, got a scalar")
	}
	b := o.BatchDims
	if b < 0 || x.Ranked && b >= int64(max(x.Rank(), 1)) || idx.Ranked && b >= int64(idx.Rank()) {
		return nil, fault.New(fault.Argument, "%d batch dimensions of %v and %v", b, x, idx)
	}
	if !x.Ranked || !idx.Ranked || !idx.Dims[idx.Rank()-1].Known() {
		return movedOne(declared, in[0], tensor.AnyShape(), nil)
	}
	k := idx.Dims[idx.Rank()-1].N
	if k < 0 || k > int64(x.Rank())-b {
		return nil, fault.New(fault.Shape, "input 1: index vectors of length %d for %v after %d batch dimensions", k, x, b)
	}
	lead := idx.Clone().Dims[:idx.Rank()-1]
	for d := range b {
		var ok bool
		if lead[d], ok = meet(x.Dims[d], idx.Dims[d]); !ok {
			return nil, fault.New(fault.Shape, "input 1: %v does not fit %v at batch dimension %d", idx, x, d)
		}
	}
	return movedOne(declared, in[0], tensor.OfDims(slices.Concat(lead, x.Dims[b+k:])...), nil)
}
