package ref

import (
	"cmp"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
)

// unordered is order's result for a pair with a NaN.
const unordered = 2

// order returns -1, 0 or 1 as a < b, a == b, a > b, and unordered when one is NaN.
func order[T elem](a, b T) int {
	if a != a || b != b {
		return unordered
	}
	return cmp.Compare(a, b)
}

// compare applies holds to the order of each pair of the broadcast operands.
func compare(in []tensor.Tensor, out tensor.Type, holds func(c int) bool) ([]tensor.Tensor, error) {
	a, b := in[0], in[1]
	if a.DType != b.DType {
		return nil, fault.New(fault.Type, "cannot compare %v with %v", a.DType, b.DType)
	}
	switch a.DType {
	case tensor.Float32:
		return compareAs[float32](a, b, out, holds), nil
	case tensor.Float64:
		return compareAs[float64](a, b, out, holds), nil
	case tensor.Int8:
		return compareAs[int8](a, b, out, holds), nil
	case tensor.Int16:
		return compareAs[int16](a, b, out, holds), nil
	case tensor.Int32:
		return compareAs[int32](a, b, out, holds), nil
	case tensor.Int64:
		return compareAs[int64](a, b, out, holds), nil
	case tensor.Uint8, tensor.Bool:
		return compareAs[uint8](a, b, out, holds), nil
	case tensor.Uint16:
		return compareAs[uint16](a, b, out, holds), nil
	case tensor.Uint32:
		return compareAs[uint32](a, b, out, holds), nil
	case tensor.Uint64:
		return compareAs[uint64](a, b, out, holds), nil
	}
	return nil, fault.New(fault.Type, "cannot compare %v", a.DType)
}

func compareAs[T elem](a, b tensor.Tensor, out tensor.Type, holds func(c int) bool) []tensor.Tensor {
	return zip(a, b, out, func(x, y T) uint8 { return bit(holds(order(x, y))) })
}

// logical applies f to the truth of each pair of the broadcast operands; a number is true unless it is 0.
func logical(in []tensor.Tensor, out tensor.Type, f func(a, b bool) bool) ([]tensor.Tensor, error) {
	a, err := truth(in[0])
	if err != nil {
		return nil, err
	}
	b, err := truth(in[1])
	if err != nil {
		return nil, err
	}
	return zip(a, b, out, func(x, y uint8) uint8 { return bit(f(x != 0, y != 0)) }), nil
}

// truth returns the bool tensor that is true where t is not 0.
func truth(t tensor.Tensor) (tensor.Tensor, error) {
	b := tensor.Type{DType: tensor.Bool, Shape: tensor.Of(t.Dims...)}
	y, err := mapTest(t, b, test{
		real: func(x float64) bool { return x != 0 },
		int:  func(x int64) bool { return x != 0 },
	})
	if err != nil {
		return tensor.Tensor{}, err
	}
	return y[0], nil
}
