package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// ReverseSequence reverses the first lens[b] steps of each sequence: y at time t of batch b is x at time lens[b]-1-t
// for t < lens[b] and at time t otherwise.
//
// Inputs: x of any type, rank 2 or more; lens, integers [batch]; a length outside [0, steps] fails the run with
// fault.Data. Output: y like x. Source: ONNX ReverseSequence-10.
type ReverseSequence struct {
	BatchAxis, TimeAxis int64 // negative count from the end
}

func init() { graph.Register[*ReverseSequence]("reverse_sequence", graph.Traits{Moves: true}) }

// Infer returns the shape of x.
func (o *ReverseSequence) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 2, 2, declared, 1, 1); err != nil {
		return nil, err
	}
	if err := wantIndex(in, 1); err != nil {
		return nil, err
	}
	if err := wantRank(in, 1, 1); err != nil {
		return nil, err
	}
	batch, known, err := axisOf(in, 0, o.BatchAxis)
	if err != nil {
		return nil, err
	}
	time, _, err := axisOf(in, 0, o.TimeAxis)
	if err != nil {
		return nil, err
	}
	if known {
		if batch == time {
			return nil, fault.New(fault.Argument, "batch and time are both axis %d", batch)
		}
		if n := in[1].Shape; n.Ranked {
			if _, ok := meet(n.Dims[0], in[0].Shape.Dims[batch]); !ok {
				return nil, fault.New(fault.Shape, "input 1: %v lengths for axis %d of %v", n, batch, in[0].Shape)
			}
		}
	}
	return movedOne(declared, in[0], in[0].Shape, sameAxis(time))
}
