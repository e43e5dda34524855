package hbdnn

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// port is an input or output as the driver describes it. A port that the driver has in NHWC is shown in NCHW, as the
// model has it that was compiled, and lies in NHWC. Images are bytes: gray and those with three components [N,C,H,W],
// NV12 the rows of luma and then those of pairs, [N,3*H/2,W].
type port struct {
	device.Port
	raw     []byte  // hbDNNTensorProperties
	strides []int64 // of the elements as shown
	dense   bool    // no gaps
	bytes   int64   // of the elements
	room    int64   // of the driver's memory for them
}

// view is the port's elements in memory of the driver's form.
func (p *port) view(b mem.Buffer, off int64) mem.View {
	return mem.View{Buf: b, Off: off, Type: p.Type, Strides: p.strides}
}

// Fits implements driver.Form.
func (p *port) Fits(v mem.View) bool {
	if p.dense {
		return v.LiesIn(p.Native)
	}
	return slices.Equal(v.Strides, p.strides)
}

// Load implements driver.Form.
func (p *port) Load(m *driver.Memory, v mem.View) error {
	if p.dense && p.Native == nil {
		return v.Load(m.Bytes[:p.bytes])
	}
	elements := make([]byte, p.bytes)
	err := v.Load(elements)
	if err == nil {
		err = p.view(m.Buf, m.Off).Store(elements)
	}
	return err
}

// Store implements driver.Form.
func (p *port) Store(m *driver.Memory, v mem.View) error {
	elements, err := p.Elements(m)
	if err == nil {
		err = v.Store(elements)
	}
	return err
}

// Elements implements driver.Form.
func (p *port) Elements(m *driver.Memory) ([]byte, error) {
	elements := make([]byte, p.bytes)
	return elements, p.view(m.Buf, m.Off).Load(elements)
}

// portOf checks what a driver says of a tensor. Kind fault.Device for impossible values, fault.Unsupported for values
// that this library has no words for.
func portOf(g generation, name string, raw []byte) (*port, error) {
	d, err := g.read(raw)
	switch {
	case err != nil:
		return nil, err
	case d.kind < 0 || int(d.kind) >= len(dtypes):
		return nil, fault.New(fault.Device, "its type is %d", d.kind)
	case dtypes[d.kind] == tensor.Invalid:
		return nil, fault.New(fault.Unsupported, "its type %d has no whole bytes", d.kind)
	case d.bytes <= 0:
		return nil, fault.New(fault.Device, "its memory has %d bytes", d.bytes)
	}
	p := &port{raw: raw, room: d.bytes}
	p.Name = name
	count := int64(1)
	for i, n := range d.valid {
		if n <= 0 {
			return nil, fault.New(fault.Device, "its size %d of %v is %d", i, d.valid, n)
		}
		if count *= n; count > math.MaxInt32 {
			return nil, fault.New(fault.Device, "it has the sizes %v", d.valid)
		}
	}
	dims, strides, err := d.place()
	if err != nil {
		return nil, err
	}
	width := int64(dtypes[d.kind].Bits() / 8)
	if err := p.lie(dims, strides, width); err != nil {
		return nil, err
	}
	if d.layout == layoutNHWC && len(dims) == 4 {
		p.Native = []int{0, 2, 3, 1}
		dims = []int64{dims[0], dims[3], dims[1], dims[2]}
		p.strides = []int64{p.strides[0], p.strides[3], p.strides[1], p.strides[2]}
	}
	p.Type, p.Min, p.Max = tensor.T(dtypes[d.kind], dims...), dims, dims
	return p, p.quantize(&d, dims)
}

// place gives the sizes of a tensor and the bytes from one element of each to the next, in the order of memory.
func (d *properties) place() (dims, strides []int64, err error) {
	dims, width := d.valid, int64(dtypes[d.kind].Bits()/8)
	if d.kind > imageNV12Separate || d.kind == imageY && len(dims) == 4 && d.given() {
		if d.given() {
			return dims, d.stride, nil
		}
		aligned, err := d.gapped()
		return dims, dense(aligned, width), err
	}
	// The rows of NV12 and gray images begin at multiples of the aligned width.
	if len(dims) != 4 || len(d.aligned) != 4 {
		return nil, nil, fault.New(fault.Device, "it is an image with the sizes %v, in memory %v", dims, d.aligned)
	}
	h, w, pitch := dims[2], dims[3], d.aligned[3]
	if d.layout == layoutNHWC {
		h, w, pitch = dims[1], dims[2], d.aligned[2]
	}
	if d.kind == imageY {
		if d.layout == layoutNHWC {
			return dims, []int64{h * pitch, pitch, 1, 1}, nil
		}
		return dims, []int64{h * pitch, h * pitch, pitch, 1}, nil
	}
	if h%2 != 0 || w%2 != 0 {
		return nil, nil, fault.New(fault.Unsupported, "it is an NV12 image of %d rows and %d columns", h, w)
	}
	rows := h / 2 * 3
	return []int64{dims[0], rows, w}, []int64{rows * pitch, pitch, 1}, nil
}

// given says whether the driver tells strides.
func (d *properties) given() bool {
	for _, s := range d.stride {
		if s != 0 {
			return true
		}
	}
	return false
}

// gapped gives the sizes in memory, which may be of more dimensions than the valid ones, all of size 1.
func (d *properties) gapped() ([]int64, error) {
	for i, n := range d.aligned {
		if i < len(d.valid) && n < d.valid[i] || i >= len(d.valid) && n != 1 {
			return nil, fault.New(fault.Device, "it has the sizes %v, in memory %v", d.valid, d.aligned)
		}
	}
	if len(d.aligned) < len(d.valid) {
		return nil, fault.New(fault.Device, "it has the sizes %v, in memory %v", d.valid, d.aligned)
	}
	return d.aligned[:len(d.valid)], nil
}

// dense are the bytes from one element of each dimension to the next, without gaps.
func dense(dims []int64, width int64) []int64 {
	out := make([]int64, len(dims))
	for i := len(dims) - 1; i >= 0; i-- {
		out[i], width = width, width*max(dims[i], 1)
		if width > math.MaxInt32 {
			width = math.MaxInt32
		}
	}
	return out
}

// lie checks that elements lie in the port's memory, none on another.
func (p *port) lie(dims, strides []int64, width int64) error {
	last, least := width, width
	p.dense, p.bytes = true, width
	for i := len(dims) - 1; i >= 0; i-- {
		s := strides[i]
		if s%width != 0 {
			return fault.New(fault.Unsupported, "elements of %d bytes are %d bytes apart in dimension %d", width, s, i)
		}
		if s < least && dims[i] > 1 || s < 0 {
			return fault.New(fault.Device, "the sizes %v lie %v bytes apart", dims, strides)
		}
		p.dense = p.dense && (s == p.bytes || dims[i] == 1)
		last += (dims[i] - 1) * s
		p.bytes *= dims[i]
		least = max(least, last)
		if last > p.room {
			return fault.New(fault.Device, "the sizes %v, %v bytes apart, do not fit %d bytes", dims, strides, p.room)
		}
	}
	p.strides = make([]int64, len(dims))
	for i := range strides {
		p.strides[i] = strides[i] / width
	}
	return nil
}

// quantize reads what integers stand for. Real numbers and images stand for themselves, whatever is said.
func (p *port) quantize(d *properties, dims []int64) error {
	if p.Type.DType.IsFloat() || d.kind <= imageBGR || d.quant == quantNone {
		return nil
	}
	q := &tensor.Quant{}
	switch d.quant {
	case quantShift:
		data, err := lent("shifts", d.shift, d.shiftLen, 1)
		if err != nil {
			return err
		}
		for _, s := range data {
			q.Scale = append(q.Scale, float32(math.Ldexp(1, -int(s))))
		}
	case quantScale:
		data, err := lent("scales", d.scale, d.scaleLen, 4)
		if err != nil {
			return err
		}
		for i := range int(d.scaleLen) {
			q.Scale = append(q.Scale, math.Float32frombits(binary.NativeEndian.Uint32(data[4*i:])))
		}
		if d.zeroLen == 0 {
			break
		}
		if d.zeroLen != d.scaleLen {
			return fault.New(fault.Device, "it has %d scales and %d zero points", d.scaleLen, d.zeroLen)
		}
		if data, err = lent("zero points", d.zero, d.zeroLen, d.zeroWidth); err != nil {
			return err
		}
		for i := 0; i < len(data); i += d.zeroWidth {
			if d.zeroWidth == 1 {
				q.Zero = append(q.Zero, int32(int8(data[i])))
				continue
			}
			q.Zero = append(q.Zero, int32(binary.NativeEndian.Uint32(data[i:])))
		}
	default:
		return fault.New(fault.Device, "its quantization is %d", d.quant)
	}
	if q.Zero == nil {
		q.Zero = make([]int32, len(q.Scale))
	}
	for i, s := range q.Scale {
		if !(s > 0) || math.IsInf(float64(s), 0) || !p.Type.DType.IsSigned() && q.Zero[i] < 0 {
			return fault.New(fault.Device, "its codes of type %v have scale %v and zero point %d", p.Type.DType, s, q.Zero[i])
		}
	}
	if len(q.Scale) > 1 {
		axis, err := d.axisOf(len(q.Scale))
		if err != nil {
			return err
		}
		if p.Native != nil {
			axis = p.Native[axis]
		}
		if q.Axis = axis; dims[axis] != int64(len(q.Scale)) {
			return fault.New(fault.Device, "it has %d scales for the axis %d of %v", len(q.Scale), axis, dims)
		}
	}
	p.Type.Quant = q
	return nil
}

// axisOf is the dimension that has n scales; where the headers have no word for it, the only one of that size.
func (d *properties) axisOf(n int) (int, error) {
	if d.axis >= 0 && int(d.axis) < len(d.valid) {
		return int(d.axis), nil
	}
	found := -1
	for i, size := range d.valid {
		if size != int64(n) {
			continue
		}
		if found >= 0 {
			return 0, fault.New(fault.Unsupported, "it has %d scales, for one of two dimensions of %v", n, d.valid)
		}
		found = i
	}
	if found < 0 || d.axis >= 0 {
		return 0, fault.New(fault.Device, "it has %d scales for the axis %d of %v", n, d.axis, d.valid)
	}
	return found, nil
}

// lent copies a list that the driver points to.
func lent(what string, at uintptr, n int32, width int) ([]byte, error) {
	if n < 1 || n > 1<<20 {
		return nil, fault.New(fault.Device, "it has %d %s", n, what)
	}
	data, err := driver.Peek(at, int(n)*width)
	return data, fault.Wrap(err, "its %s", what)
}
