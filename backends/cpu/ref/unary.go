package ref

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
)

// mapReal applies f to every element of a float32 or float64 tensor. f computes in float64; a float32 result is rounded
// once.
func mapReal(x tensor.Tensor, out tensor.Type, f func(float64) float64) ([]tensor.Tensor, error) {
	switch {
	case x.DType == tensor.Float32 && out.DType == tensor.Float32:
		return apply(x, out, func(v float32) float32 { return float32(f(float64(v))) }), nil
	case x.DType == tensor.Float64 && out.DType == tensor.Float64:
		return apply(x, out, f), nil
	}
	return nil, fault.New(fault.Type, "no kernel from %v to %v", x.DType, out.DType)
}

// number is a unary operator on real values and integers. Integers are computed in 64 bits and wrapped to the element
// type. A nil function means that the operator is not defined there.
type number struct {
	real func(float64) float64
	int  func(int64) int64
	uint func(uint64) uint64
}

// mapNumber applies n to every element of a tensor whose result has the same type.
func mapNumber(x tensor.Tensor, out tensor.Type, n number) ([]tensor.Tensor, error) {
	if x.DType == out.DType {
		switch d := x.DType; {
		case d.IsFloat() && n.real != nil:
			return mapReal(x, out, n.real)
		case d.IsSigned() && n.int != nil:
			switch d {
			case tensor.Int8:
				return apply(x, out, func(v int8) int8 { return int8(n.int(int64(v))) }), nil
			case tensor.Int16:
				return apply(x, out, func(v int16) int16 { return int16(n.int(int64(v))) }), nil
			case tensor.Int32:
				return apply(x, out, func(v int32) int32 { return int32(n.int(int64(v))) }), nil
			case tensor.Int64:
				return apply(x, out, n.int), nil
			}
		case d.IsUnsigned() && n.uint != nil:
			switch d {
			case tensor.Uint8:
				return apply(x, out, func(v uint8) uint8 { return uint8(n.uint(uint64(v))) }), nil
			case tensor.Uint16:
				return apply(x, out, func(v uint16) uint16 { return uint16(n.uint(uint64(v))) }), nil
			case tensor.Uint32:
				return apply(x, out, func(v uint32) uint32 { return uint32(n.uint(uint64(v))) }), nil
			case tensor.Uint64:
				return apply(x, out, n.uint), nil
			}
		}
	}
	return nil, fault.New(fault.Type, "no kernel from %v to %v", x.DType, out.DType)
}

// sameInt and sameUint are the integer forms of operators that leave integers as they are.
func sameInt(v int64) int64    { return v }
func sameUint(v uint64) uint64 { return v }

// apply maps f over the elements of x.
func apply[A, R elem](x tensor.Tensor, out tensor.Type, f func(A) R) []tensor.Tensor {
	t, y := newLike[R](out)
	for i, v := range view[A](x) {
		tick()
		y[i] = f(v)
	}
	return []tensor.Tensor{t}
}

// test maps a predicate on real values and integers to bool. Bool counts as the unsigned integers 0 and 1.
type test struct {
	real func(float64) bool
	int  func(int64) bool
}

// mapTest applies p to every element; unsigned 64-bit integers are handed over as the int64 of the same bits.
func mapTest(x tensor.Tensor, out tensor.Type, p test) ([]tensor.Tensor, error) {
	t, y := newLike[uint8](out)
	switch {
	case x.DType == tensor.Float32 && p.real != nil:
		for i, v := range view[float32](x) {
			tick()
			y[i] = bit(p.real(float64(v)))
		}
	case x.DType == tensor.Float64 && p.real != nil:
		for i, v := range view[float64](x) {
			tick()
			y[i] = bit(p.real(v))
		}
	case p.int != nil:
		v, err := readInts(x.DType, x.Data, len(y))
		if err != nil {
			return nil, fault.As(fault.Type, err, "%v", x.DType)
		}
		for i, n := range v {
			tick()
			y[i] = bit(p.int(n))
		}
	default:
		return nil, fault.New(fault.Type, "no kernel for %v", x.DType)
	}
	return []tensor.Tensor{t}, nil
}

// bit returns the element of a bool tensor.
func bit(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}
