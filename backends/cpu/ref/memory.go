package ref

import (
	"math"

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

// alloc is make([]T, n).
func alloc[T any, N int | int64](n N) []T {
	v, err := mem.Make[T](int(n))
	if err != nil {
		panic(shortage{err})
	}
	return v
}

// zeroed is alloc for bytes. Many of them are cleared in stretches.
func zeroed(n int64) []byte {
	if n < manyBytes {
		return alloc[byte](n)
	}
	v, err := mem.Uncleared(int(n))
	if err != nil {
		panic(shortage{err})
	}
	inStretches(len(v), func(from, to int) { clear(v[from:to]) })
	return v
}

// manyBytes take longer than a millisecond to clear.
const manyBytes = 16 << 20

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
	return tensor.Tensor{DType: d, Dims: append([]int64(nil), dims...), Data: zeroed(n)}
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
