package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
)

// drawn infers an output of random numbers in shape s: a float of type to, or like when to is Invalid.
func drawn(declared []tensor.Type, to, like tensor.DType, s tensor.Shape, ok func(tensor.DType) bool) ([]tensor.Fact,
	error) {
	d := to
	if d == tensor.Invalid {
		d = like
	}
	if d != tensor.Invalid && !ok(d) {
		return nil, fault.New(fault.Type, "no random numbers of type %v", d)
	}
	out := tensor.Fact{Type: tensor.Type{DType: d, Shape: s}}
	if declared[0].DType == d {
		out.Quant = declared[0].Quant
	}
	return []tensor.Fact{out}, nil
}

// drawnShape infers random numbers in the shape that input 0 gives.
func drawnShape(in []tensor.Fact, declared []tensor.Type, to tensor.DType) ([]tensor.Fact, error) {
	if err := arity(in, 1, 1, declared, 1, 1); err != nil {
		return nil, err
	}
	v, known, err := vector(in, 0)
	if err != nil {
		return nil, err
	}
	s := tensor.AnyShape()
	if known {
		if s, err = wantDims(v); err != nil {
			return nil, fault.Wrap(err, "input 0")
		}
	}
	return drawn(declared, to, tensor.Float32, s, tensor.DType.IsFloat)
}

// drawnLike infers random numbers in the shape of input 0.
func drawnLike(in []tensor.Fact, declared []tensor.Type, to tensor.DType) ([]tensor.Fact, error) {
	if err := arity(in, 1, 1, declared, 1, 1); err != nil {
		return nil, err
	}
	return drawn(declared, to, in[0].DType, in[0].Shape, tensor.DType.IsFloat)
}
