package ref

import (
	"math"
	"unsafe"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// Kernels take memory by alloc, newTensor and cloned, or announce it with admit: these panic with a shortage when there
// is none, which refuse turns into the error of the operator.

// shortage is the panic of a kernel that gets no memory, or whose context has ended.
type shortage struct{ err error }

// refuse sets err when a kernel panics for want of memory; it is deferred.
func refuse(err *error) {
	switch v := recover().(type) {
	case nil:
	case shortage:
		*err = v.err
	default:
		panic(v)
	}
}

// manyBytes take longer than a millisecond to clear.
const manyBytes = 16 << 20

// alloc is make([]T, n). Many numbers are cleared in stretches.
func alloc[T any, N int | int64](n N) []T {
	var one T
	if size := int64(unsafe.Sizeof(one)); size > 0 && int64(n) >= manyBytes/size && isNumber(one) {
		return zeroed[T](int(n))
	}
	v, err := mem.Make[T](int(n))
	if err != nil {
		panic(shortage{err})
	}
	return v
}

// isNumber reports whether memory of T's size holds a T whatever its bits are.
func isNumber[T any](one T) bool {
	switch any(one).(type) {
	case byte, int8, uint16, int32, uint32, int64, uint64, int, float32, float64:
		return true
	}
	return false
}

// zeroed is make([]T, n) for more than manyBytes.
func zeroed[T any](n int) []T {
	var one T
	size := int(unsafe.Sizeof(one))
	if n > math.MaxInt/size {
		panic(shortage{fault.As(fault.Memory, mem.ErrExhausted, "%d elements of %d bytes", n, size)})
	}
	b, err := mem.Uncleared(n * size)
	if err != nil {
		panic(shortage{err})
	}
	v := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n) // the heap begins large pieces at pages
	inStretches(n, func(from, to int) { clear(v[from:to]) })
	return v
}

// cloned returns a copy of v.
func cloned[T any](v []T) []T {
	c := alloc[T](len(v))
	inStretches(len(v), func(from, to int) { copy(c[from:to], v[from:]) })
	return c
}

// grow returns v with room for n more elements: what append does, accounted.
func grow[T any](v []T, n int) []T {
	if cap(v)-len(v) >= n {
		return v
	}
	w := alloc[T](max(len(v)+n, 2*len(v)))[:len(v)]
	inStretches(len(v), func(from, to int) { copy(w[from:to], v[from:]) })
	return w
}

// admit announces n bytes that other means than alloc take.
func admit[N int | int64](n N) {
	if err := mem.Admit(int64(n)); err != nil {
		panic(shortage{err})
	}
}

// tensorBytes counts the bytes of a tensor beside its elements.
const tensorBytes = 160

// newTensor returns a zeroed tensor.
func newTensor(d tensor.DType, dims ...int64) tensor.Tensor {
	n, ok := tensor.T(d, dims...).ByteSize()
	if !ok {
		panic(shortage{fault.As(fault.Memory, mem.ErrExhausted, "%v%v is too large", d, dims)})
	}
	admit(tensorBytes)
	return tensor.Tensor{DType: d, Dims: append([]int64(nil), dims...), Data: alloc[byte](n)}
}

// readInts is tensor.ReadInts.
func readInts(d tensor.DType, data []byte, n int) ([]int64, error) {
	if size, ok := d.ByteSize(int64(n)); !ok || int64(len(data)) < size || !d.IsInt() && d != tensor.Bool {
		return tensor.ReadInts(d, data, n)
	}
	v := alloc[int64](n)
	for i := range v {
		tick()
		v[i] = tensor.IntAt(d, data, i)
	}
	return v, nil
}

// satMul multiplies numbers that are not negative, at most math.MaxInt64.
func satMul(a, b int64) int64 {
	if b != 0 && a > math.MaxInt64/b {
		return math.MaxInt64
	}
	return a * b
}

// satAdd adds numbers that are not negative, at most math.MaxInt64.
func satAdd(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
