package cpu

import (
	"unsafe"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// binding is the memory of one port.
type binding struct {
	view  mem.View // Buf nil: not bound
	dims  []int64  // sizes of an input, nil: not known
	stage mem.Buffer
}

// bind replaces the binding; v.Buf may be nil.
func (b *binding) bind(v mem.View) {
	if v.Buf != nil {
		v.Buf.Retain()
	}
	if b.view.Buf != nil {
		b.view.Buf.Release()
	}
	b.view = v
}

func (b *binding) release() {
	b.bind(mem.View{})
	if b.stage != nil {
		b.stage.Release()
		b.stage = nil
	}
}

// checkView checks what can be known of a binding before the run.
func checkView(p device.Port, v mem.View) error {
	if v.Native != "" {
		return fault.New(fault.Unsupported, "native layout %q", v.Native)
	}
	if v.Type.DType != tensor.Invalid && p.Type.DType != tensor.Invalid && v.Type.DType != p.Type.DType {
		return fault.New(fault.Type, "want %v, got %v", p.Type.DType, v.Type.DType)
	}
	if v.Type.Shape.Static() {
		if _, ok := p.Type.Shape.Merge(v.Type.Shape); !ok {
			return fault.New(fault.Shape, "want %v, got %v", p.Type.Shape, v.Type.Shape)
		}
		if v.Type.DType == tensor.Invalid {
			v.Type.DType = p.Type.DType
		}
		_, err := v.Span()
		return err
	}
	if v.Strides != nil {
		return fault.New(fault.Shape, "strides need known sizes, got %v", v.Type.Shape)
	}
	if v.Off < 0 || v.Off > v.Buf.Size() {
		return fault.New(fault.Memory, "offset %d in a buffer of %d bytes", v.Off, v.Buf.Size())
	}
	return nil
}

// input returns the tensor of a bound input, and how many bytes had to be copied for it: those that cannot be mapped, are not contiguous,
// or lie at an address that does not suit their element size.
func (b *binding) input(p device.Port) (t tensor.Tensor, copied int64, err error) {
	v := b.view
	v.Type = tensor.Type{DType: p.Type.DType, Shape: tensor.Of(b.dims...)}
	n, ok := v.Type.ByteSize()
	if !ok {
		return t, 0, fault.New(fault.Shape, "%v has no size", v.Type)
	}
	if _, err := v.Span(); err != nil {
		return t, 0, err
	}
	t = tensor.Tensor{DType: p.Type.DType, Dims: b.dims, Quant: p.Type.Quant}
	if data, err := v.Buf.Map(); err == nil && v.Contiguous() {
		data = data[v.Off : v.Off+n : v.Off+n]
		if aligned(data, t.DType) {
			t.Data = data
			return t, 0, v.Buf.Sync(mem.FromDevice, v.Off, n)
		}
	}
	if b.stage == nil || b.stage.Size() < n {
		stage, err := mem.Host(n, mem.Options{})
		if err != nil {
			return t, 0, err
		}
		if b.stage != nil {
			b.stage.Release()
		}
		b.stage = stage
	}
	data, err := b.stage.Map()
	if err != nil {
		return t, 0, err
	}
	t.Data = data[:n:n]
	return t, n, v.Load(t.Data)
}

// offer returns the memory that an engine may write an output to, nil when it must be copied there.
func (b *binding) offer(p device.Port, inputs []tensor.Tensor) []byte {
	if b.view.Buf == nil || !b.view.Contiguous() {
		return nil
	}
	data, err := b.view.Buf.Map()
	if err != nil {
		return nil
	}
	data = data[b.view.Off:]
	if !aligned(data, p.Type.DType) {
		return nil
	}
	for _, in := range inputs {
		if overlap(data, in.Data) {
			return nil
		}
	}
	return data
}

// output stores a result in the bound memory and returns how many bytes were copied.
func (b *binding) output(t tensor.Tensor, offered []byte) (copied int64, err error) {
	v := b.view
	if v.Type.Shape.Static() {
		if want := tensor.Of(t.Dims...); !v.Type.Shape.Equal(want) {
			return 0, fault.New(fault.Shape, "result is %v, bound as %v", t.Type(), v.Type)
		}
	}
	v.Type = t.Type()
	if _, err := v.Span(); err != nil {
		return 0, err
	}
	n := int64(len(t.Data))
	if n > 0 && len(offered) >= len(t.Data) && unsafe.SliceData(offered) == unsafe.SliceData(t.Data) {
		return 0, v.Buf.Sync(mem.ToDevice, v.Off, n)
	}
	return n, v.Store(t.Data)
}

// aligned reports whether elements of type d may be read at data's address; types above 8 bytes are pairs of smaller ones.
func aligned(data []byte, d tensor.DType) bool {
	size := uintptr(min(max(d.Bits()/8, 1), 8))
	return len(data) == 0 || uintptr(unsafe.Pointer(unsafe.SliceData(data)))%size == 0
}

// overlap reports whether two ranges share a byte.
func overlap(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	x, y := uintptr(unsafe.Pointer(unsafe.SliceData(a))), uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return x < y+uintptr(len(b)) && y < x+uintptr(len(a))
}
