package ohnn

import (
	"unsafe"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
)

// Own implements driver.Calls: a tensor in memory of the driver's own.
func (e *execution) Own(s *driver.Slot) (*driver.Memory, error) {
	d := e.prog.dev
	desc, err := d.driver.describe(s.Type)
	if err != nil {
		return nil, err
	}
	defer d.driver.forget(desc)
	at, err := d.driver.TensorCreate(d.id, desc)
	if err = made("OH_NNTensor_Create", at, err); err != nil {
		return nil, err
	}
	m := d.memory(at)
	if m.Bytes, err = d.bytes(at, s.Size); err != nil {
		m.Release()
		return nil, err
	}
	return m, nil
}

// bytes returns the bytes of a tensor.
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

// Take implements driver.Calls: a tensor of a buffer at the beginning of a file. The API's versions differ about other
// places in a file.
func (e *execution) Take(s *driver.Slot, v mem.View) *driver.Memory {
	d := e.prog.dev
	fd, base, ok := v.Buf.FD()
	if !ok || base+v.Off != 0 || v.Buf.Size() < s.Size || !d.driver.Has("OH_NNTensor_CreateWithFd") {
		return nil
	}
	data, err := v.Buf.Map()
	if err != nil || s.Size == 0 {
		return nil
	}
	desc, err := d.driver.describe(s.Type)
	if err != nil {
		return nil
	}
	defer d.driver.forget(desc)
	at, err := d.driver.TensorCreateWithFd(d.id, desc, int32(fd), uint64(s.Size), 0)
	if err != nil || at == 0 {
		return nil
	}
	v.Buf.Retain()
	m := d.memory(at)
	m.Buf, m.Bytes = v.Buf, data[:s.Size]
	return m
}

// memory is a tensor of the driver's; the driver is asked to end it only while it lives.
func (d *Device) memory(at uintptr) *driver.Memory {
	return &driver.Memory{At: at, End: func() {
		if d.Life.Alive() == nil {
			_, _ = d.driver.TensorDestroy(unsafe.Pointer(&at)) // nothing is left to do with an error
		}
	}}
}
