package ref

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
)

// binaryFunc is a binary operator in every width: integers are computed in 64 bits and wrapped to the element type.
type binaryFunc interface {
	float32(a, b float32) float32
	float64(a, b float64) float64
	int(a, b int64) int64
	uint(a, b uint64) uint64
}

// arithmetic computes a broadcast binary operator whose result has the type of its operands. Bool operands are the
// integers 0 and 1, their result is whether f's is not 0.
func arithmetic(in []tensor.Tensor, out tensor.Type, f binaryFunc) ([]tensor.Tensor, error) {
	a, b := in[0], in[1]
	if a.DType != out.DType || b.DType != out.DType {
		return nil, fault.New(fault.Type, "no arithmetic on %v and %v to %v", a.DType, b.DType, out.DType)
	}
	switch out.DType {
	case tensor.Float32:
		return zip(a, b, out, f.float32), nil
	case tensor.Float64:
		return zip(a, b, out, f.float64), nil
	case tensor.Int8:
		return zip(a, b, out, wrapInt[int8](f)), nil
	case tensor.Int16:
		return zip(a, b, out, wrapInt[int16](f)), nil
	case tensor.Int32:
		return zip(a, b, out, wrapInt[int32](f)), nil
	case tensor.Int64:
		return zip(a, b, out, f.int), nil
	case tensor.Bool:
		return zip(a, b, out, func(a, b uint8) uint8 { return bit(f.uint(uint64(a), uint64(b)) != 0) }), nil
	case tensor.Uint8:
		return zip(a, b, out, wrapUint[uint8](f)), nil
	case tensor.Uint16:
		return zip(a, b, out, wrapUint[uint16](f)), nil
	case tensor.Uint32:
		return zip(a, b, out, wrapUint[uint32](f)), nil
	case tensor.Uint64:
		return zip(a, b, out, f.uint), nil
	}
	return nil, fault.New(fault.Type, "no arithmetic on %v", out.DType)
}

func wrapInt[T int8 | int16 | int32](f binaryFunc) func(a, b T) T {
	return func(a, b T) T { return T(f.int(int64(a), int64(b))) }
}

func wrapUint[T uint8 | uint16 | uint32](f binaryFunc) func(a, b T) T {
	return func(a, b T) T { return T(f.uint(uint64(a), uint64(b))) }
}

// zip applies f to each pair of the broadcast operands.
func zip[A, R elem](a, b tensor.Tensor, out tensor.Type, f func(a, b A) R) []tensor.Tensor {
	t, y := newLike[R](out)
	x, z := view[A](a), view[A](b)
	ia, ib := broadcastIndex(a.Dims, t.Dims), broadcastIndex(b.Dims, t.Dims)
	for i := range y {
		tick()
		y[i] = f(x[ia(i)], z[ib(i)])
	}
	return []tensor.Tensor{t}
}

// broadcastIndex returns the function from an element of the broadcast shape dims to the element of an operand of shape
// from.
func broadcastIndex(from, dims []int64) func(i int) int {
	n, _ := tensor.Count(from)
	total, _ := tensor.Count(dims)
	if n == total {
		return func(i int) int { return i }
	}
	if n == 1 {
		return func(int) int { return 0 }
	}
	stride := tensor.RowMajor(dims)
	own := tensor.RowMajor(from)
	lead := len(dims) - len(from)
	return func(i int) int {
		k := 0
		for d := lead; d < len(dims); d++ {
			if from[d-lead] != 1 {
				k += i / int(stride[d]) % int(dims[d]) * int(own[d-lead])
			}
		}
		return k
	}
}

// integers is a binaryFunc that is defined on integers only.
type integers struct {
	i func(a, b int64) int64
	u func(a, b uint64) uint64
}

func (integers) float32(_, _ float32) float32 { panic("ref: an operator on integers got floats") }
func (integers) float64(_, _ float64) float64 { panic("ref: an operator on integers got floats") }
func (n integers) int(a, b int64) int64       { return n.i(a, b) }
func (n integers) uint(a, b uint64) uint64    { return n.u(a, b) }

// count returns the number of elements of a type whose sizes are known.
func count(t tensor.Type) int {
	n, _ := t.Shape.Count()
	return int(n)
}

// zeroInt returns the first zero of an integer tensor.
func zeroInt(t tensor.Tensor) (i int, found bool) {
	if !t.DType.IsInt() {
		return 0, false
	}
	for i := range t.Count() {
		tick()
		if tensor.IntAt(t.DType, t.Data, i) == 0 {
			return i, true
		}
	}
	return 0, false
}
