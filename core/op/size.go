package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Size returns the number of elements of x.
//
// Input: x of any type. Output: y, a scalar of type To (int64 unless it says int32). Source: ONNX Size-21.
type Size struct {
	To tensor.DType
}

func init() { graph.Register[*Size]("size", graph.Traits{Moves: true}) }

// Infer returns the number as a value where it is known.
func (o *Size) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return inferNumber(in, declared, o.To, func(x tensor.Shape) (tensor.Dim, error) { return timesDims(x.Dims...) })
}

// inferNumber infers a scalar of type to that number returns for a shape of known rank.
func inferNumber(in []tensor.Fact, declared []tensor.Type, to tensor.DType, number func(tensor.Shape) (tensor.Dim,
	error)) ([]tensor.Fact, error) {
	if err := arity(in, 1, 1, declared, 1, 1); err != nil {
		return nil, err
	}
	d, err := indexType(to)
	if err != nil {
		return nil, err
	}
	out := tensor.Fact{Type: tensor.T(d)}
	if x := in[0].Shape; x.Ranked {
		n, err := number(x)
		if err != nil {
			return nil, err
		}
		carry(&out, []tensor.Dim{n})
	}
	return []tensor.Fact{out}, nil
}
