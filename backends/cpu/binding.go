package cpu

import (
	"unsafe"

	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// staging is memory of our own for a bound input that cannot be read in place.
type staging struct{ buf mem.Buffer }

func (s *staging) take(n int64) ([]byte, error) {
	if s.buf == nil || s.buf.Size() < n {
		buf, err := mem.Host(n, mem.Options{})
		if err != nil {
			return nil, err
		}
		s.release()
		s.buf = buf
	}
	data, err := s.buf.Map()
	if err != nil {
		return nil, err
	}
	return data[:n:n], nil
}

func (s *staging) release() {
	if s.buf != nil {
		s.buf.Release()
		s.buf = nil
	}
}

// input returns the tensor of a bound input, and how many bytes had to be copied for it: those that cannot be mapped,
// lie in another order than the port's own or with gaps, or at an address that does not suit their element size. The
// bytes are in the port's order.
func (s *staging) input(b *exec.Binding) (t tensor.Tensor, copied int64, err error) {
	v, err := b.Input()
	if err != nil {
		return t, 0, err
	}
	n, _ := v.Type.ByteSize()
	t = tensor.Tensor{DType: v.Type.DType, Dims: b.Dims, Quant: v.Type.Quant}
	if data, err := v.Buf.Map(); err == nil && v.LiesIn(b.Port.Native) {
		data = data[v.Off : v.Off+n : v.Off+n]
		if aligned(data, t.DType) {
			t.Data = data
			return t, 0, v.Buf.Sync(mem.FromDevice, v.Off, n)
		}
	}
	if b.Port.Native != nil {
		v = v.Permuted(b.Port.Native)
	}
	if t.Data, err = s.take(n); err != nil {
		return t, 0, err
	}
	return t, n, v.Load(t.Data)
}

// rowsApart returns the tensor of a bound input of bytes whose rows, the last dims dimensions, have no gaps and lie the
// same number of bytes apart, which it returns; 0 when that is not so. Data begins with the first row and ends with the
// last. Nothing is copied.
func rowsApart(b *exec.Binding, dims int) (t tensor.Tensor, apart int64) {
	if dims == 0 || b.View.Strides == nil || b.View.Contiguous() {
		return t, 0
	}
	v, err := b.Input()
	last := len(b.Dims) - dims - 1 // of the dimensions that count rows
	if err != nil || last < 0 || len(v.Strides) != len(b.Dims) {
		return t, 0
	}
	row := int64(1)
	for d := len(b.Dims) - 1; d > last; d-- {
		if b.Dims[d] > 1 && v.Strides[d] != row {
			return t, 0
		}
		row *= b.Dims[d]
	}
	apart = v.Strides[last]
	next := apart
	for d := last; d >= 0; d-- {
		if b.Dims[d] > 1 && v.Strides[d] != next || b.Dims[d] < 1 {
			return t, 0
		}
		next *= b.Dims[d]
	}
	span, err := v.Span()
	if apart < row || b.Dims[last] == 1 || err != nil {
		return t, 0
	}
	data, err := v.Buf.Map()
	if err != nil || v.Buf.Sync(mem.FromDevice, v.Off, span) != nil {
		return t, 0
	}
	return tensor.Tensor{DType: v.Type.DType, Dims: b.Dims, Quant: v.Type.Quant,
		Data: data[v.Off : v.Off+span : v.Off+span]}, apart
}

// offer returns the memory of bound output i that an engine may write it to, nil when it must be copied there. Memory
// that another bound tensor is in as well, at the same address or at another one, is not offered; aliased tells so.
func offer(in, out []exec.Binding, i int) (data []byte, aliased bool) {
	b := &out[i]
	if b.View.Buf == nil {
		return nil, false
	}
	n := b.View.Buf.Size() - b.View.Off
	for k := range in {
		v := &in[k].View
		if used, err := v.Span(); err != nil || mem.Aliases(v.Buf, v.Off, used, b.View.Buf, b.View.Off, n) {
			return nil, true
		}
	}
	for k := range out {
		if v := &out[k].View; k != i && v.Buf != nil && mem.Aliases(v.Buf, v.Off, v.Buf.Size()-v.Off, b.View.Buf, b.View.Off,
			n) {
			return nil, true
		}
	}
	data, err := b.View.Buf.Map()
	if err != nil || !b.View.Contiguous() {
		return nil, false
	}
	data = data[b.View.Off:]
	if !aligned(data, b.Port.Type.DType) {
		return nil, false
	}
	return data, false
}

// output stores a result in the bound memory and returns how many bytes were copied.
func output(b *exec.Binding, t tensor.Tensor, offered []byte) (copied int64, err error) {
	v, err := b.Result(t)
	if err != nil {
		return 0, err
	}
	n := int64(len(t.Data))
	if n > 0 && len(offered) >= len(t.Data) && unsafe.SliceData(offered) == unsafe.SliceData(t.Data) {
		return 0, v.Buf.Sync(mem.ToDevice, v.Off, n)
	}
	return n, v.Store(t.Data)
}

// aligned reports whether elements of type d may be read at data's address; types above 8 bytes are pairs of smaller
// ones.
func aligned(data []byte, d tensor.DType) bool {
	size := uintptr(min(max(d.Bits()/8, 1), 8))
	return len(data) == 0 || uintptr(unsafe.Pointer(unsafe.SliceData(data)))%size == 0
}
