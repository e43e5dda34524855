package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
)

// windowFunction infers a window: input size, one integer, not negative.
func windowFunction(in []tensor.Fact, declared []tensor.Type, to tensor.DType) ([]tensor.Fact, error) {
	if err := arity(in, 1, 1, declared, 1, 1); err != nil {
		return nil, err
	}
	n, err := single(in, 0)
	if err != nil {
		return nil, err
	}
	if n.Known() && n.N < 0 {
		return nil, fault.New(fault.Argument, "input 0: size %d", n.N)
	}
	if to == tensor.Invalid {
		to = tensor.Float32
	}
	if !numeric(to) {
		return nil, fault.New(fault.Type, "a window of type %v", to)
	}
	return []tensor.Fact{{Type: tensor.Type{DType: to, Shape: tensor.OfDims(n)}}}, nil
}
