package ohnn

import (
	"unsafe"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// memory is an NN_Tensor of the driver's.
type memory struct {
	at    uintptr
	bytes []byte
	buf   mem.Buffer // whose bytes they are, with a reference; nil: the driver's own
	off   int64      // of the bytes in buf
}

// create makes a tensor in memory of the driver's own.
func (d *Device) create(typ tensor.Type, size int64) (*memory, error) {
	desc, err := d.driver.describe(typ)
	if err != nil {
		return nil, err
	}
	defer d.driver.forget(desc)
	at, err := d.driver.TensorCreate(d.id, desc)
	if err = made("OH_NNTensor_Create", at, err); err != nil {
		return nil, err
	}
	m := &memory{at: at}
	if m.bytes, err = d.bytes(at, size); err != nil {
		d.destroy(m)
		return nil, err
	}
	return m, nil
}

// bytes are those of a tensor.
func (d *Device) bytes(at uintptr, size int64) ([]byte, error) {
	var room uint64
	code, err := d.driver.TensorGetSize(at, unsafe.Pointer(&room))
	if err = call("OH_NNTensor_GetSize", code, err); err != nil {
		return nil, err
	}
	data, err := d.driver.TensorGetDataBuffer(at)
	if err != nil {
		return nil, err
	}
	if data == 0 || room < uint64(size) {
		return nil, fault.New(fault.Device, "the driver gives a tensor of %d bytes at address %#x, want %d", room, data, size)
	}
	return unsafe.Slice((*byte)(driver.Pointer(data)), size), nil
}

// take makes a tensor of a buffer at the beginning of a file; nil when the driver takes no such memory. What the API
// says of other places in a file differs between its versions.
func (d *Device) take(v mem.View, typ tensor.Type, size int64) *memory {
	fd, base, ok := v.Buf.FD()
	if !ok || base+v.Off != 0 || v.Buf.Size() < size || !d.driver.Has("OH_NNTensor_CreateWithFd") {
		return nil
	}
	data, err := v.Buf.Map()
	if err != nil || size == 0 {
		return nil
	}
	desc, err := d.driver.describe(typ)
	if err != nil {
		return nil
	}
	defer d.driver.forget(desc)
	at, err := d.driver.TensorCreateWithFd(d.id, desc, int32(fd), uint64(size), 0)
	if err != nil || at == 0 {
		return nil
	}
	v.Buf.Retain()
	return &memory{at: at, bytes: data[:size], buf: v.Buf}
}

// destroy ends a tensor; the driver is asked only while it lives.
func (d *Device) destroy(m *memory) {
	if m == nil {
		return
	}
	if d.life.Alive() == nil {
		_, _ = d.driver.TensorDestroy(unsafe.Pointer(&m.at)) // nothing is left to do with an error
	}
	if m.buf != nil {
		m.buf.Release()
	}
}

// slot is the memory of one input or output of an execution.
type slot struct {
	typ   tensor.Type
	size  int64
	own   *memory // nil: not needed so far
	given *memory // of the buffer that was bound last, nil: none that the driver takes
	set   *memory // what the driver reads or writes
}

// use has the driver work on a bound view where it can, else on memory of its own, which is then to be copied.
func (d *Device) use(s *slot, v mem.View) (copied bool, err error) {
	if s.given != nil && (s.given.buf != v.Buf || s.given.off != v.Off || !v.Contiguous()) {
		s.drop(d)
	}
	if s.given == nil && v.Buf != nil && v.Contiguous() {
		s.given = d.take(v, s.typ, s.size)
	}
	if s.set = s.given; s.set != nil {
		return false, nil
	}
	if s.own == nil {
		if s.own, err = d.create(s.typ, s.size); err != nil {
			return false, err
		}
	}
	s.set = s.own
	return true, nil
}

// drop ends memory of a buffer.
func (s *slot) drop(d *Device) {
	if s.set == s.given {
		s.set = nil
	}
	d.destroy(s.given)
	s.given = nil
}
