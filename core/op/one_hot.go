package op

import (
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// OneHotRule says what an index outside [0, depth) means.
type OneHotRule uint8

// The rules.
const (
	OneHotOff   OneHotRule = iota // off values only
	OneHotWraps                   // -depth..-1 count from the end; off values only beyond
)

// OneHot inserts a dimension of depth cells, on where the cell's number is the index and off elsewhere.
//
// Inputs: indices, integers or floats (truncated toward zero); depth, one integer, not negative; on, off, one element
// each of one type. Output: y of on's type, rank one more; Axis, in [-rank-1, rank], is the place of the new dimension.
// Source: ONNX OneHot-11 (OneHotWraps), OH_NN_OPS_ONE_HOT.
type OneHot struct {
	Axis    int64
	Outside OneHotRule
}

func init() { graph.Register[*OneHot]("one_hot", graph.Traits{ShapeInputs: []int{1}, Moves: true}) }

// Infer inserts the depth into the shape.
func (o *OneHot) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 4, 4, declared, 1, 1); err != nil {
		return nil, err
	}
	if o.Outside > OneHotWraps {
		return nil, fault.New(fault.Argument, "outside: %d is no rule", o.Outside)
	}
	if err := wantTensor(in, 0, "integers or floats", func(t tensor.Type) bool {
		return numeric(t.DType) &&
			t.Quant == nil
	}); err != nil {
		return nil, err
	}
	depth, err := single(in, 1)
	if err != nil {
		return nil, err
	}
	if depth.Known() && depth.N < 0 {
		return nil, fault.New(fault.Argument, "input 1: depth %d: want 0 or more", depth.N)
	}
	for i := 2; i < 4; i++ {
		if err := wantScalar(in, i); err != nil {
			return nil, err
		}
	}
	if err := sameKind(in, 2, 3); err != nil {
		return nil, err
	}
	x := in[0].Shape
	if !x.Ranked {
		return movedOne(declared, in[2], x, nil)
	}
	a, err := Axis(o.Axis, x.Rank()+1)
	if err != nil {
		return nil, err
	}
	return movedOne(declared, in[2], tensor.OfDims(slices.Insert(x.Clone().Dims, a, depth)...), nil)
}
