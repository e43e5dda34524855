package rknn

import (
	"bytes"
	"math"
	"unicode/utf8"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
	"github.com/anynpu/anynpu/core/tensor"
)

// port is an input or output as the driver describes it. A port that the driver has in NHWC is shown in NCHW, as the
// model that it was compiled from has it, and lies in NHWC.
type port struct {
	device.Port
	attr  spec.TensorAttr
	bytes int64 // of the elements without gaps
	room  int64 // of the driver's memory for them
	order []int // of the dimensions in memory, nil: row-major
	line  int64 // bytes of the elements of a row, 0: there are no gaps
	pitch int64 // bytes from one row to the next
}

// portOf checks what a driver says of a tensor. Kind fault.Device for impossible values, fault.Unsupported for values
// that this library has no words for.
func portOf(a *spec.TensorAttr) (*port, error) {
	p := &port{attr: *a}
	end := bytes.IndexByte(a.Name[:], 0)
	switch {
	case end < 0:
		return nil, fault.New(fault.Device, "its name has no end")
	case !utf8.Valid(a.Name[:end]):
		return nil, fault.New(fault.Device, "its name %q is no UTF-8", a.Name[:end])
	case a.Rank > spec.MaxDims:
		return nil, fault.New(fault.Device, "it has %d dimensions, more than %d", a.Rank, spec.MaxDims)
	case !a.Format.Valid():
		return nil, fault.New(fault.Device, "its format is %d", a.Format)
	case !a.Kind.Valid():
		return nil, fault.New(fault.Device, "its type is %d", a.Kind)
	case a.Kind.DType() == tensor.Invalid:
		return nil, fault.New(fault.Unsupported, "its type, %v, has no whole bytes", a.Kind)
	case a.Format == spec.NC1HWC2:
		return nil, fault.New(fault.Unsupported, "it lies in the NPU's own format")
	}
	p.Name = string(a.Name[:end])
	dims, count := make([]int64, a.Rank), int64(1)
	for i := range dims {
		dims[i] = int64(a.Dims[i])
		if dims[i] == 0 {
			return nil, fault.New(fault.Device, "its dimension %d of %d is 0", i, a.Rank)
		}
		if count *= dims[i]; count > math.MaxUint32 {
			return nil, fault.New(fault.Device, "it has sizes %v", dims)
		}
	}
	shown := dims
	if a.Format == spec.NHWC && len(dims) == 4 {
		shown, p.order = []int64{dims[0], dims[3], dims[1], dims[2]}, []int{0, 2, 3, 1}
	}
	p.Type, p.Native = tensor.T(a.Kind.DType(), shown...), p.order
	p.Min, p.Max = shown, shown
	width := int64(p.Type.DType.Bits() / 8)
	p.bytes = count * width
	if int64(a.Elems) != count || int64(a.Size) != p.bytes {
		return nil, fault.New(fault.Device, "it has %d elements in %d bytes, want %d in %d for %v", a.Elems, a.Size, count,
			p.bytes, p.Type)
	}
	p.room = max(int64(a.SizeWithStride), p.bytes)
	if a.SizeWithStride != 0 && int64(a.SizeWithStride) < p.bytes {
		return nil, fault.New(fault.Device, "it takes %d bytes with gaps and %d without", a.SizeWithStride, p.bytes)
	}
	if err := p.quantize(); err != nil {
		return nil, err
	}
	return p, p.gaps(dims, width)
}

// quantize reads what integers stand for. Real numbers stand for themselves, whatever is said.
func (p *port) quantize() error {
	a := &p.attr
	if p.Type.DType.IsFloat() || a.Qnt == spec.QntNone {
		return nil
	}
	scale, zero := a.Scale, a.Zp
	switch a.Qnt {
	case spec.QntDFP:
		scale, zero = float32(math.Ldexp(1, -int(a.Fl))), 0
	case spec.QntAffine:
	default:
		return fault.New(fault.Device, "its quantization is %d", a.Qnt)
	}
	low, high := codes(p.Type.DType)
	if !number(scale) || int64(zero) < low || int64(zero) > high {
		return fault.New(fault.Device, "its codes of type %v have scale %v and zero point %d", p.Type.DType, scale, zero)
	}
	p.Type.Quant = tensor.PerTensor(scale, zero)
	return nil
}

// codes are the smallest and the largest integer of a type.
func codes(d tensor.DType) (low, high int64) {
	bits := min(d.Bits(), 63)
	if d.IsSigned() {
		return -1 << (bits - 1), 1<<(bits-1) - 1
	}
	return 0, 1<<bits - 1
}

// gaps finds the bytes between rows of an image.
func (p *port) gaps(dims []int64, width int64) error {
	a := &p.attr
	w, inner := int64(0), width
	switch {
	case len(dims) != 4:
	case a.Format == spec.NHWC:
		w, inner = dims[2], width*dims[3]
	case a.Format == spec.NCHW:
		w = dims[3]
	}
	stride := int64(a.WStride)
	if w == 0 || stride == 0 || stride == w {
		return nil
	}
	rows := p.bytes / (w * inner)
	if stride < w || stride*inner > p.room/rows {
		return fault.New(fault.Device, "its rows of %d are %d apart, which does not fit %d bytes", w, stride, p.room)
	}
	p.line, p.pitch = w*inner, stride*inner
	return nil
}

// Fits implements driver.Form: there are no gaps, and the dimensions are in the driver's order.
func (p *port) Fits(v mem.View) bool { return p.line == 0 && v.LiesIn(p.order) }

// Load implements driver.Form.
func (p *port) Load(m *driver.Memory, v mem.View) error {
	if p.line == 0 {
		return p.as(v).Load(m.Bytes[:p.bytes])
	}
	dense := make([]byte, p.bytes)
	err := p.as(v).Load(dense)
	if err == nil {
		p.spread(m.Bytes, dense)
	}
	return err
}

// Store implements driver.Form.
func (p *port) Store(m *driver.Memory, v mem.View) error {
	dense := m.Bytes[:p.bytes]
	if p.line != 0 {
		dense = make([]byte, p.bytes)
		p.gather(dense, m.Bytes)
	}
	return p.as(v).Store(dense)
}

// Elements implements driver.Form.
func (p *port) Elements(m *driver.Memory) ([]byte, error) {
	dense := make([]byte, p.bytes)
	p.gather(dense, m.Bytes)
	return p.rows(dense), nil
}

// as is a view of the port's elements as one in the order of the driver's memory.
func (p *port) as(v mem.View) mem.View {
	if p.order == nil {
		return v
	}
	return v.Permuted(p.order)
}

// rows are elements in the order of the driver's memory, row-major.
func (p *port) rows(data []byte) []byte {
	if p.order == nil {
		return data
	}
	d, out := p.attr.Dims, make([]byte, len(data))
	width := len(data) / int(d[0]*d[1]*d[2]*d[3])
	image, channels := int(d[1]*d[2]), int(d[3])
	for n := range int(d[0]) {
		for at := range image {
			for c := range channels {
				from := ((n*image+at)*channels + c) * width
				copy(out[((n*channels+c)*image+at)*width:], data[from:from+width])
			}
		}
	}
	return out
}

// spread copies elements without gaps to the driver's memory, gather the other way.
func (p *port) spread(to, from []byte) {
	if p.line == 0 {
		copy(to, from)
		return
	}
	for at, row := int64(0), int64(0); at < p.bytes; at, row = at+p.line, row+p.pitch {
		copy(to[row:row+p.line], from[at:])
	}
}

func (p *port) gather(to, from []byte) {
	if p.line == 0 {
		copy(to, from)
		return
	}
	for at, row := int64(0), int64(0); at < p.bytes; at, row = at+p.line, row+p.pitch {
		copy(to[at:at+p.line], from[row:])
	}
}
