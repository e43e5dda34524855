package rknn

import (
	"unsafe"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/convert"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
	"github.com/anynpu/anynpu/core/tensor"
)

// customType is the element type in which a program's function sees a tensor: reals as FLOAT32, integers as they are
// (section 8).
func customType(d tensor.DType) (spec.Type, error) {
	if d.IsFloat() {
		return spec.Float32, nil
	}
	if t, ok := spec.TypeOf(d); ok {
		return t, nil
	}
	return 0, fault.New(fault.Type, "elements of type %v, which the API has no type for [rknn-elements-type-api]", d)
}

// customTensor describes a tensor for a program's function: contiguous, in the model's order.
func customTensor(index int, name string, t tensor.Type, at uintptr) (CustomOpTensor, error) {
	var c CustomOpTensor
	dims, ok := t.Shape.Ints()
	if !ok || len(dims) > spec.MaxDims {
		return c, fault.New(fault.Shape, "%q has the shape %v: want known sizes of at most %d dimensions; the model's "+
			"value_info may declare them [rknn-shape-known-sizes]", name, t.Shape, spec.MaxDims)
	}
	kind, err := customType(t.DType)
	if err != nil {
		return c, fault.Wrap(err, "%q", name)
	}
	n, ok := tensor.Count(dims)
	if !ok || n > 1<<28 {
		return c, fault.New(fault.Shape, "%q has the shape %v: want at most %d elements "+
			"[rknn-shape-elements]", name, dims, 1<<28)
	}
	size := uint32(n * kind.Size())
	c.attr = spec.TensorAttr{Index: uint32(index), Rank: uint32(len(dims)), Elems: uint32(n), Size: size,
		SizeWithStride: size,
		Kind:           kind, Format: spec.Undefined, Scale: 1}
	if len(dims) == 4 {
		c.attr.Format = spec.NCHW
	}
	if q := t.Quant; q != nil && q.IsPerTensor() {
		c.attr.Qnt, c.attr.Zp, c.attr.Scale = spec.QntAffine, q.ZeroAt(0), q.Scale[0]
	}
	for i, d := range dims {
		c.attr.Dims[i] = uint32(d)
	}
	setText(c.attr.Name[:], name)
	c.mem = spec.TensorMem{Virt: at, FD: -1, Size: size, Flags: memAllocInside}
	return c, nil
}

// staged is a tensor of a node during a run: the bytes in core's type, and those that the program's function sees,
// which are the same for types that need no conversion.
type staged struct {
	name   string
	t      tensor.Tensor
	shown  mem.Buffer // nil: the function sees t.Data
	result mem.Buffer // memory of an output's t.Data
}

// room returns n bytes of buffer *b, made or made larger when needed; at least one, so that there is an address.
func room(b *mem.Buffer, n int64) ([]byte, error) {
	if *b != nil && (*b).Size() < n {
		(*b).Release()
		*b = nil
	}
	if *b == nil {
		made, err := mem.Host(max(n, 1), mem.Options{Align: 64})
		if err != nil {
			return nil, err
		}
		*b = made
	}
	data, err := (*b).Map()
	if err != nil {
		return nil, err
	}
	return data[:n], nil
}

// show returns the address of an input's bytes as the function sees them; its elements must be at an address that suits
// them.
func (s *staged) show(constant bool) (uintptr, error) {
	n := int64(len(s.t.Data))
	aligned := n > 0 && addressOf(s.t.Data)%uintptr(min(max(s.t.DType.Bits()/8, 1), 8)) == 0
	if !s.t.DType.IsFloat() || s.t.DType == tensor.Float32 {
		if aligned && !constant {
			return addressOf(s.t.Data), nil
		}
		data, err := room(&s.shown, n)
		if err != nil {
			return 0, err
		}
		copy(data, s.t.Data)
		return addressOf(data), nil
	}
	count := int(n) * 8 / s.t.DType.Bits()
	data, err := room(&s.shown, int64(count)*4)
	if err != nil {
		return 0, err
	}
	convert.Floats(mem.Elements[float32](data)[:count], s.t.DType, s.t.Data)
	return addressOf(data), nil
}

// offer returns the address of zeroed memory that the function writes an output to.
func (s *staged) offer() (uintptr, error) {
	n, _ := s.t.Type().ByteSize()
	data, err := room(&s.result, n)
	if err != nil {
		return 0, err
	}
	clear(data)
	s.t.Data = data
	if !s.t.DType.IsFloat() || s.t.DType == tensor.Float32 {
		return addressOf(data), nil
	}
	shown, err := room(&s.shown, n*8/int64(s.t.DType.Bits())*4)
	if err != nil {
		return 0, err
	}
	clear(shown)
	return addressOf(shown), nil
}

// accept takes what the function wrote to an output.
func (s *staged) accept() error {
	if !s.t.DType.IsFloat() || s.t.DType == tensor.Float32 {
		return nil
	}
	count := len(s.t.Data) * 8 / s.t.DType.Bits()
	shown, err := s.shown.Map()
	if err != nil {
		return err
	}
	convert.Put(s.t.Data, s.t.DType, mem.Elements[float32](shown)[:count], false)
	return nil
}

func (s *staged) release() {
	for _, b := range []*mem.Buffer{&s.shown, &s.result} {
		if *b != nil {
			(*b).Release()
			*b = nil
		}
	}
}

// set stores the descriptions of tensors for a program's function.
func (a *tensorArray) set(tensors []CustomOpTensor) {
	if a.n != len(tensors) || a.block.Addr() == 0 {
		a.n = len(tensors)
		boundary.SetSlice(&a.block, append(tensors[:len(tensors):len(tensors)], CustomOpTensor{}))
	}
	copy(unsafe.Slice((*CustomOpTensor)(cPointer(a.block.Addr())), a.n), tensors)
}
