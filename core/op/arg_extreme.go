package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
)

// argExtreme infers ArgMax and ArgMin.
func argExtreme(in []tensor.Fact, declared []tensor.Type, axis int64, keepDims bool, to tensor.DType) ([]tensor.Fact,
	error) {
	if err := arity(in, 1, 1, declared, 1, 1); err != nil {
		return nil, err
	}
	if err := wantTensor(in, 0, numberOrBoolWords, isNumberOrBool); err != nil {
		return nil, err
	}
	to, err := indexType(to)
	if err != nil {
		return nil, err
	}
	out := tensor.Fact{Type: tensor.Type{DType: to}}
	a, known, err := axisOf(in, 0, axis)
	if err != nil {
		return nil, err
	}
	if !known {
		return []tensor.Fact{out}, nil
	}
	x := in[0].Shape
	if d := x.Dims[a]; d.Known() && d.N == 0 {
		return nil, fault.New(fault.Shape, "input 0: %v has no elements along axis %d", x, a)
	}
	mask := make([]bool, x.Rank())
	mask[a] = true
	out.Shape = reducedShape(x, mask, keepDims)
	return []tensor.Fact{out}, nil
}

// indexType resolves the element type of index outputs: int64 unless to says int32.
func indexType(to tensor.DType) (tensor.DType, error) {
	switch to {
	case tensor.Invalid:
		return tensor.Int64, nil
	case tensor.Int32, tensor.Int64:
		return to, nil
	}
	return 0, fault.New(fault.Type, "indices of type %v; want int32 or int64", to)
}
