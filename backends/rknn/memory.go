package rknn

import (
	"math"
	"unsafe"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
)

// create makes memory of the driver's own for a context.
func (d *Device) create(context uintptr, size int64) (*driver.Memory, error) {
	at, err := d.driver.CreateMem(context, uint32(size))
	if err != nil {
		return nil, err
	}
	if at == 0 {
		return nil, fault.As(fault.Memory, mem.ErrExhausted, "rknn_create_mem: the driver has no %d bytes", size)
	}
	made, m := d.memory(context, at), (*spec.TensorMem)(driver.Pointer(at))
	if m.Virt == 0 || int64(m.Size) < size || m.Offset < 0 || int64(m.Offset) > int64(m.Size)-size {
		err := fault.New(fault.Device, "rknn_create_mem gives %d bytes at offset %d of address %#x, want %d", m.Size,
			m.Offset, m.Virt, size)
		made.Release()
		return nil, err
	}
	made.Bytes = unsafe.Slice((*byte)(unsafe.Add(driver.Pointer(m.Virt), m.Offset)), size)
	return made, nil
}

// memory is a rknn_tensor_mem of a context; the driver is asked to end it only while it lives.
func (d *Device) memory(context, at uintptr) *driver.Memory {
	return &driver.Memory{At: at, End: func() {
		if d.Life.Alive() == nil {
			_, _ = d.driver.DestroyMem(context, driver.Pointer(at)) // nothing is left to do with an error
		}
	}}
}

// Own implements driver.Calls.
func (e *execution) Own(s *driver.Slot) (*driver.Memory, error) {
	return e.prog.dev.create(e.context, s.Form.(*port).room)
}

// Take implements driver.Calls: memory of a buffer that has a file descriptor.
func (e *execution) Take(s *driver.Slot, v mem.View) *driver.Memory {
	d, size := e.prog.dev, s.Form.(*port).room
	fd, base, ok := v.Buf.FD()
	if !ok || base != 0 || v.Buf.Size()-v.Off < size || v.Off > math.MaxInt32 || !d.driver.Has("rknn_create_mem_from_fd") {
		return nil
	}
	data, err := v.Buf.Map()
	if err != nil || size == 0 {
		return nil
	}
	// The address is the file's beginning, and the offset counts from there.
	at, err := d.driver.CreateMemFromFd(e.context, int32(fd), unsafe.Pointer(&data[0]), uint32(size), int32(v.Off))
	if err != nil || at == 0 {
		return nil
	}
	v.Buf.Retain()
	m := d.memory(e.context, at)
	m.Bytes, m.Buf, m.Off = data[v.Off:v.Off+size], v.Buf, v.Off
	return m
}

// sync makes bytes visible to the other side, where the driver has a function for that.
func (d *Device) sync(context uintptr, m *driver.Memory, mode spec.MemSyncMode) error {
	if !d.driver.Has("rknn_mem_sync") {
		return nil
	}
	code, err := d.driver.MemSync(context, driver.Pointer(m.At), uint32(mode))
	return call("rknn_mem_sync", code, err)
}
