package ref

import (
	"unsafe"

	"github.com/anynpu/anynpu/core/tensor"
)

// elem is every Go type that stands for an element; float16 and bfloat16 are uint16 bit patterns, bool is uint8.
type elem interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// view returns the elements of t without a copy. The element type must have the size of T; t.Data is aligned as Go
// aligns byte slices from make and as core/mem aligns buffers (at least 8 bytes), which callers guarantee for tensors
// at odd offsets by copying.
func view[T elem](t tensor.Tensor) []T {
	n := t.Count()
	if n == 0 {
		return nil
	}
	var z T
	size := int(unsafe.Sizeof(z))
	_ = t.Data[n*size-1]
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(t.Data))), n)
}

// newLike returns a zeroed tensor of an inferred type and its elements. The sizes must be known.
func newLike[T elem](t tensor.Type) (tensor.Tensor, []T) {
	dims, _ := t.Shape.Ints()
	out := newTensor(t.DType, dims...)
	out.Quant = t.Quant
	return out, view[T](out)
}
