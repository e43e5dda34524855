package op

import (
	"math"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Concat joins tensors along an axis.
//
// Inputs: one or more tensors of one type and rank, with equal sizes but on Axis. Quantized ones may differ in their
// parameters; they are requantized to the output's, which are declared or those of input 0. Output: y of that type.
// Source: ONNX Concat-13, OH_NN_OPS_CONCAT, ANEURALNETWORKS_CONCATENATION.
type Concat struct {
	Axis int64 // negative counts from the end
}

func init() { graph.Register((*Concat)(nil)) }

// Name returns "concat".
func (*Concat) Name() string { return "concat" }

// Traits: none.
func (*Concat) Traits() graph.Traits { return graph.Traits{Moves: true, Sign: graph.NonNegativeIfAll} }

// Infer adds the sizes on the axis and checks that the others agree.
func (o *Concat) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 1, math.MaxInt32, declared, 1, 1); err != nil {
		return nil, err
	}
	rank := -1
	like := in[0]
	for i, x := range in {
		if !present(in, i) {
			return nil, fault.New(fault.Argument, "input %d is missing", i)
		}
		if err := sameKind(in, 0, i); err != nil {
			return nil, err
		}
		if like.DType == tensor.Invalid {
			like = x
		}
		r := x.Shape.Rank()
		if r >= 0 && rank >= 0 && r != rank {
			return nil, fault.New(fault.Shape, "input %d: want rank %d, got %v", i, rank, x.Shape)
		}
		rank = max(rank, r)
	}
	if rank < 0 {
		out, err := moved(declared[0], like, tensor.AnyShape(), nil)
		return []tensor.Fact{out}, err
	}
	axis, err := Axis(o.Axis, rank)
	if err != nil {
		return nil, err
	}
	dims := anyDims(rank)
	along := make([]tensor.Dim, len(in))
	var vals []tensor.Dim
	for i, x := range in {
		along[i] = tensor.AnyDim()
		vals = append(vals, values(x)...)
		if !x.Shape.Ranked {
			continue
		}
		along[i] = x.Shape.Dims[axis]
		for d := range dims {
			if d == axis {
				continue
			}
			var ok bool
			if dims[d], ok = meet(dims[d], x.Shape.Dims[d]); !ok {
				return nil, fault.New(fault.Shape, "input %d: %v does not fit the others outside axis %d", i, x.Shape, axis)
			}
		}
	}
	if dims[axis], err = plusDims(along...); err != nil {
		return nil, err
	}
	out, err := moved(declared[0], like, tensor.OfDims(dims...), sameAxis(axis))
	if err != nil {
		return nil, err
	}
	carry(&out, vals)
	return []tensor.Fact{out}, nil
}
