package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Unique finds the different elements of x (with Flatten), or the different slices along an axis.
//
// Input: x of any type but complex. Outputs: y of x's type: the different elements in ascending order, slices compared
// element by element, or with Unsorted in the order of their first occurrence; then, each int64 and optional: indices
// [n], the first occurrence of each; inverse [elements or slices of x], the place in y of each; counts [n]. NaN is
// equal to itself and larger than every number. Source: ONNX Unique-11.
type Unique struct {
	Axis     int64 // negative counts from the end; unused with Flatten
	Flatten  bool
	Unsorted bool
}

func init() { graph.Register[*Unique]("unique", graph.Traits{DataDependent: true}) }

// Infer returns the ranks, and the sizes off the axis.
func (o *Unique) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 1, 1, declared, 1, 4); err != nil {
		return nil, err
	}
	if err := wantType(in, 0, "a real, integer or bool type", isPlain); err != nil {
		return nil, err
	}
	x := in[0].Shape
	y, all := tensor.AnyOfRank(1), tensor.AnyDim()
	var keep func(int) int
	switch {
	case o.Flatten && x.Ranked:
		var err error
		if all, err = timesDims(x.Dims...); err != nil {
			return nil, err
		}
	case !o.Flatten:
		a, known, err := axisOf(in, 0, o.Axis)
		if err != nil {
			return nil, err
		}
		if y = x.Clone(); known {
			all = x.Dims[a]
			y.Dims[a] = tensor.AnyDim()
			keep = sameAxis(a)
		}
	}
	first, err := moved(declared[0], in[0], y, keep)
	if err != nil {
		return nil, err
	}
	out := []tensor.Fact{first}
	for i := 1; i < len(declared); i++ {
		s := tensor.AnyOfRank(1)
		if i == 2 {
			s.Dims[0] = all
		}
		out = append(out, tensor.Fact{Type: tensor.Type{DType: tensor.Int64, Shape: s}})
	}
	return out, nil
}
