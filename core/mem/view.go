package mem

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
)

// Span returns the number of bytes from Off that the view touches, after checking that they lie inside the buffer.
// Kinds: fault.Shape (sizes unknown or strides that do not fit), fault.Memory (buffer too small).
func (v View) Span() (int64, error) {
	if !v.Type.Shape.Static() {
		return 0, fault.New(fault.Shape, "view of %v has unknown sizes", v.Type)
	}
	n, ok := v.Type.ByteSize()
	if !ok {
		return 0, fault.New(fault.Shape, "view of %v has no size", v.Type)
	}
	if v.Strides != nil && n > 0 {
		var err error
		if n, err = strided(v.Type.DType, v.Type.Shape.Dims, v.Strides); err != nil {
			return 0, err
		}
	}
	if v.Buf == nil {
		return 0, fault.New(fault.Memory, "view of %v has no buffer", v.Type)
	}
	if size := v.Buf.Size(); v.Off < 0 || v.Off > size || n > size-v.Off {
		return 0, fault.As(fault.Memory, ErrTooSmall, "%v takes %d bytes at offset %d, the buffer has %d", v.Type, n, v.Off,
			size)
	}
	return n, nil
}

// strided returns the bytes from the first to behind the last element.
func strided(d tensor.DType, dims []tensor.Dim, strides []int64) (int64, error) {
	if len(strides) != len(dims) || d.Bits()%8 != 0 {
		return 0, fault.New(fault.Shape, "%d strides for %v%v", len(strides), d, dims)
	}
	last := int64(0)
	for i, s := range strides {
		steps := dims[i].N - 1
		if s < 0 || steps > 0 && s > (1<<62-last)/steps {
			return 0, fault.New(fault.Shape, "stride %d of dimension %d of %v%v", s, i, d, dims)
		}
		last += s * steps
	}
	n, ok := d.ByteSize(last + 1)
	if !ok {
		return 0, fault.New(fault.Shape, "strides %v of %v%v", strides, d, dims)
	}
	return n, nil
}

// Contiguous reports whether the elements lie row-major without gaps.
func (v View) Contiguous() bool { return v.Strides == nil || v.LiesIn(nil) }

// LiesIn reports whether the elements lie without gaps with the dimensions in the given order, a permutation with the
// slowest first; nil is row-major.
func (v View) LiesIn(order []int) bool {
	dims := v.Type.Shape.Dims
	if !v.Type.Shape.Static() || v.Strides != nil && len(v.Strides) != len(dims) || order != nil &&
		len(order) != len(dims) {
		return false
	}
	want, inner := int64(1), len(dims)
	for i := len(dims) - 1; i >= 0; i-- {
		d := i
		if order != nil {
			d = order[i]
		}
		n := dims[d].N
		switch {
		case n <= 1:
		case v.Strides == nil && d > inner || v.Strides != nil && v.Strides[d] != want:
			return false
		default:
			inner = d
		}
		want *= n
	}
	return true
}

// In returns the view of elements that lie without gaps from v.Off, with the dimensions in the given order. The sizes
// are known.
func (v View) In(order []int) View {
	v.Strides = nil
	if order == nil {
		return v
	}
	v.Strides = make([]int64, len(order))
	n := int64(1)
	for i := len(order) - 1; i >= 0; i-- {
		v.Strides[order[i]] = n
		n *= v.Type.Shape.Dims[order[i]].N
	}
	return v
}

// Permuted returns the same elements as a tensor whose dimension i is dimension order[i] of v. The sizes are known.
func (v View) Permuted(order []int) View {
	dims := v.Type.Shape.Dims
	strides := v.Strides
	if strides == nil {
		n, _ := v.Type.Shape.Ints()
		strides = tensor.RowMajor(n)
	}
	v.Type.Shape, v.Strides = tensor.Shape{Ranked: true, Dims: make([]tensor.Dim, len(order))}, make([]int64, len(order))
	for i, d := range order {
		v.Type.Shape.Dims[i], v.Strides[i] = dims[d], strides[d]
	}
	return v
}

// Load copies the view's elements, row-major without gaps, to dst, whose length must be the type's byte size.
func (v View) Load(dst []byte) error {
	span, err := v.Span()
	if err != nil {
		return err
	}
	if n, _ := v.Type.ByteSize(); n != int64(len(dst)) {
		return fault.New(fault.Argument, "load %v into %d bytes", v.Type, len(dst))
	}
	if v.Contiguous() {
		return Read(dst, v.Buf, v.Off)
	}
	src, err := v.window(span)
	if err != nil {
		return err
	}
	v.each(func(dense, sparse, n int64) { copy(dst[dense:dense+n], src[sparse:]) })
	return nil
}

// Store copies row-major elements to the view; src must have the type's byte size. Bytes between strided elements are
// kept.
func (v View) Store(src []byte) error {
	span, err := v.Span()
	if err != nil {
		return err
	}
	if n, _ := v.Type.ByteSize(); n != int64(len(src)) {
		return fault.New(fault.Argument, "store %d bytes as %v", len(src), v.Type)
	}
	if v.Contiguous() {
		return Write(v.Buf, v.Off, src)
	}
	dst, err := v.window(span)
	if err != nil {
		return err
	}
	v.each(func(dense, sparse, n int64) { copy(dst[sparse:sparse+n], src[dense:]) })
	if _, err := v.Buf.Map(); err == nil {
		return v.Buf.Sync(ToDevice, v.Off, span)
	}
	return Write(v.Buf, v.Off, dst)
}

// window returns the bytes that the view spans: mapped, or a copy when they cannot be mapped.
func (v View) window(span int64) ([]byte, error) {
	if data, err := v.Buf.Map(); err == nil {
		return data[v.Off : v.Off+span], v.Buf.Sync(FromDevice, v.Off, span)
	}
	tmp := make([]byte, span)
	return tmp, Read(tmp, v.Buf, v.Off)
}

// each calls f for each row of elements that lie next to each other on both sides, with byte offsets and the row's
// bytes.
func (v View) each(f func(dense, sparse, n int64)) {
	dims, _ := v.Type.Shape.Ints()
	count, _ := tensor.Count(dims)
	if count == 0 {
		return
	}
	size := int64(v.Type.DType.Bits() / 8)
	inner := len(dims)
	row := int64(1)
	for inner > 0 && (v.Strides[inner-1] == row || dims[inner-1] == 1) {
		inner--
		row *= dims[inner]
	}
	pos := make([]int64, inner)
	for dense := int64(0); dense < count; dense += row {
		sparse := int64(0)
		for i, p := range pos {
			sparse += p * v.Strides[i]
		}
		f(dense*size, sparse*size, row*size)
		for i := inner - 1; i >= 0; i-- {
			if pos[i]++; pos[i] < dims[i] {
				break
			}
			pos[i] = 0
		}
	}
}
