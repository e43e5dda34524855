package ref

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// move copies n elements of src from j on to dst from i on. Both have element types of the same number of bits.
func move(dst tensor.Tensor, i int, src tensor.Tensor, j, n int) {
	bits := dst.DType.Bits()
	if bits%8 == 0 {
		size := bits / 8
		inStretches(n*size, func(from, to int) { copy(dst.Data[i*size+from:i*size+to], src.Data[j*size+from:]) })
		return
	}
	put := mover(dst, src)
	for k := range n {
		tick()
		put(i+k, j+k)
	}
}

// like returns a zeroed tensor of an inferred type, all sizes of which are known.
func like(t tensor.Type) tensor.Tensor {
	dims, _ := t.Shape.Ints()
	out := newTensor(t.DType, dims...)
	out.Quant = t.Quant
	return out
}

// sized returns a zeroed tensor of type t whose sizes were found by computing. Kind fault.Memory when there are too
// many elements.
func sized(t tensor.Type, dims ...int64) (tensor.Tensor, error) {
	t.Shape = tensor.Of(dims...)
	n, ok := t.Shape.Count()
	if _, fits := t.ByteSize(); !ok || !fits || n > maxElements {
		return tensor.Tensor{}, fault.As(fault.Memory, mem.ErrExhausted, "%v is too large", t)
	}
	return like(t), nil
}

// eachIndex calls f for every index of a tensor of these sizes in row-major order; i counts the calls. f must not keep
// or change idx.
func eachIndex(dims []int64, f func(idx []int64, i int)) {
	n, _ := tensor.Count(dims)
	idx := make([]int64, len(dims))
	for i := range int(n) {
		tick()
		f(idx, i)
		for d := len(dims) - 1; d >= 0; d-- {
			if idx[d]++; idx[d] < dims[d] {
				break
			}
			idx[d] = 0
		}
	}
}

// remap fills a new tensor of type out: the element at each index comes from position from(idx) of x, a negative one
// leaves it zero.
func remap(x tensor.Tensor, out tensor.Type, from func(idx []int64) int64) tensor.Tensor {
	y := like(out)
	put := mover(y, x)
	eachIndex(y.Dims, func(idx []int64, i int) {
		if j := from(idx); j >= 0 {
			put(i, int(j))
		}
	})
	return y
}

// dot returns the sum of the products of an index with strides.
func dot(idx, stride []int64) int64 {
	n := int64(0)
	for d, i := range idx {
		n += i * stride[d]
	}
	return n
}

// product returns the number of elements in sizes that are known to fit.
func product(dims []int64) int64 {
	n, _ := tensor.Count(dims)
	return n
}

// intsOf decodes an integer or bool tensor; an absent one is nil.
func intsOf(t tensor.Tensor) ([]int64, error) {
	if t.Absent() {
		return nil, nil
	}
	v, err := readInts(t.DType, t.Data, t.Count())
	return v, fault.As(fault.Type, err, "indices")
}

// int0 decodes the only element of an integer or bool tensor, or returns missing when it is absent.
func int0(t tensor.Tensor, missing int64) (int64, error) {
	v, err := intsOf(t)
	if err != nil || v == nil {
		return missing, err
	}
	if len(v) != 1 {
		return 0, fault.New(fault.Shape, "want one element, got %v", t.Type())
	}
	return v[0], nil
}

// position checks an index into a dimension of size n and resolves it; negative ones count from the end when wraps is
// set.
func position(index, n int64, wraps bool) (int64, error) {
	i := index
	if wraps && i < 0 {
		i += n
	}
	if i < 0 || i >= n {
		return 0, fault.New(fault.Data, "index %d is outside a dimension of size %d", index, n)
	}
	return i, nil
}

// around splits sizes at an axis: the number of slices before it, its size, the elements of one step along it. There
// are no slices where they have no elements: their number can be anything, and nothing would bound a loop over them.
func around(dims []int64, axis int) (outer, size, inner int) {
	size, inner = int(dims[axis]), int(product(dims[axis+1:]))
	if size == 0 || inner == 0 {
		return 0, size, inner
	}
	return int(product(dims[:axis])), size, inner
}
