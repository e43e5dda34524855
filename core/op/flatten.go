package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Flatten makes a matrix: [product of the dimensions before Axis, product of the others].
//
// Input: x of any type. Axis lies in [-rank, rank]; 0 gives one row. Output: y of x's type.
// Source: ONNX Flatten-21, OH_NN_OPS_FLATTEN.
type Flatten struct {
	Axis int64 // negative counts from the end
}

func init() {
	graph.Register[*Flatten]("flatten", graph.Traits{InPlace: []int{0}, Moves: true, Sign: graph.NonNegativeIfFirst})
}

// Infer multiplies the sizes; a symbol survives among ones.
func (o *Flatten) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 1, 1, declared, 1, 1); err != nil {
		return nil, err
	}
	x := in[0].Shape
	if !x.Ranked {
		return movedOne(declared, in[0], tensor.AnyOfRank(2), nil)
	}
	a := o.Axis
	if a < 0 {
		a += int64(x.Rank())
	}
	if a < 0 || a > int64(x.Rank()) {
		return nil, fault.New(fault.Argument, "axis %d is outside a tensor of rank %d: want %d to %d", o.Axis, x.Rank(),
			-x.Rank(), x.Rank())
	}
	rows, err := timesDims(x.Dims[:a]...)
	if err != nil {
		return nil, err
	}
	cols, err := timesDims(x.Dims[a:]...)
	if err != nil {
		return nil, err
	}
	out, err := movedOne(declared, in[0], tensor.OfDims(rows, cols), func(i int) int {
		switch {
		case i == 0 && a == 1:
			return 0
		case int64(i) == a && int(a) == x.Rank()-1:
			return 1
		}
		return -1
	})
	if err == nil {
		carry(&out[0], values(in[0]))
	}
	return out, err
}
