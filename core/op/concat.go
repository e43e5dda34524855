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

func init() {
	graph.Register[*Concat]("concat", graph.Traits{Moves: true, Sign: graph.NonNegativeIfAll})
}

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
	for i, x := range in {
		along[i] = tensor.AnyDim()
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
	carry(&out, joinedValues(in, axis))
	return []tensor.Fact{out}, nil
}

// joinedValues joins small integer tensors of one rank along an axis; nil when one of them is none.
func joinedValues(in []tensor.Fact, axis int) []tensor.Dim {
	lists := make([][]tensor.Dim, len(in))
	rows, some := int64(1), false
	for i, x := range in {
		if lists[i] = values(x); lists[i] == nil {
			return nil
		}
		rows, _ = tensor.OfDims(x.Shape.Dims[:axis]...).Count()
		some = some || len(lists[i]) > 0
	}
	out := []tensor.Dim{}
	if !some {
		return out
	}
	for r := range int(rows) {
		for _, v := range lists {
			row := len(v) / int(rows)
			out = append(out, v[r*row:(r+1)*row]...)
		}
	}
	return out
}
