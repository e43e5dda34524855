package rknn

import (
	"math"
	"unsafe"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
)

// memory is a rknn_tensor_mem of the driver's.
type memory struct {
	at    uintptr
	bytes []byte
	buf   mem.Buffer // whose bytes they are, with a reference; nil: the driver's own
	off   int64      // of the bytes in buf
}

// create makes memory of the driver's own for a context.
func (d *Device) create(context uintptr, size int64) (*memory, error) {
	at, err := d.driver.CreateMem(context, uint32(size))
	if err != nil {
		return nil, err
	}
	if at == 0 {
		return nil, fault.New(fault.Memory, "rknn_create_mem: the driver has no %d bytes", size)
	}
	m := (*tensorMem)(driver.Pointer(at))
	if m.virt == 0 || int64(m.size) < size || m.offset < 0 || int64(m.offset) > int64(m.size)-size {
		err := fault.New(fault.Device, "rknn_create_mem gives %d bytes at offset %d of address %#x, want %d", m.size,
			m.offset, m.virt, size)
		d.destroy(context, &memory{at: at})
		return nil, err
	}
	return &memory{at: at, bytes: unsafe.Slice((*byte)(unsafe.Add(driver.Pointer(m.virt), m.offset)), size)}, nil
}

// take makes memory of a buffer that has a file descriptor; nil when the driver takes no such memory.
func (e *execution) take(v mem.View, size int64) *memory {
	d := e.prog.dev
	fd, base, ok := v.Buf.FD()
	if !ok || base != 0 || v.Buf.Size()-v.Off < size || v.Off > math.MaxInt32 || !d.driver.Has("rknn_create_mem_from_fd") {
		return nil
	}
	data, err := v.Buf.Map()
	if err != nil || size == 0 {
		return nil
	}
	// The address is that of the file's beginning, and the offset counts from there.
	at, err := d.driver.CreateMemFromFd(e.context, int32(fd), unsafe.Pointer(&data[0]), uint32(size), int32(v.Off))
	if err != nil || at == 0 {
		return nil
	}
	v.Buf.Retain()
	return &memory{at: at, bytes: data[v.Off : v.Off+size], buf: v.Buf, off: v.Off}
}

// destroy ends memory of a context; the driver is asked only while it lives.
func (d *Device) destroy(context uintptr, m *memory) {
	if m == nil {
		return
	}
	if d.life.Alive() == nil {
		_, _ = d.driver.DestroyMem(context, driver.Pointer(m.at)) // nothing is left to do with an error
	}
	if m.buf != nil {
		m.buf.Release()
	}
}

// slot is the memory of one input or output of an execution.
type slot struct {
	*port
	own   *memory // nil: not needed so far
	given *memory // of the buffer that was bound last, nil: none that the driver takes
	set   *memory // what the driver reads or writes
}

// use has the driver work on a bound view where it can, else on memory of its own, which is then to be copied.
func (e *execution) use(s *slot, v mem.View) (copied bool, err error) {
	if s.given != nil && (s.given.buf != v.Buf || s.given.off != v.Off || !v.LiesIn(s.order)) {
		if s.set == s.given {
			s.set = nil
		}
		e.prog.dev.destroy(e.context, s.given)
		s.given = nil
	}
	if s.given == nil && v.Buf != nil && s.line == 0 && v.LiesIn(s.order) {
		s.given = e.take(v, s.room)
	}
	m := s.given
	if m == nil {
		if s.own == nil {
			if s.own, err = e.prog.dev.create(e.context, s.room); err != nil {
				return false, err
			}
		}
		m = s.own
	}
	if s.set != m {
		a := s.attr
		code, err := e.prog.dev.driver.SetIoMem(e.context, driver.Pointer(m.at), unsafe.Pointer(&a))
		if err = call("rknn_set_io_mem", code, err); err != nil {
			return false, err
		}
		s.set = m
	}
	return m == s.own, nil
}

// forget ends memory of a buffer that is no longer bound, unless a run that was given up has it.
func (e *execution) forget(s *slot, v mem.View) {
	select {
	case e.lane <- struct{}{}:
		if s.given != nil && s.given.buf != v.Buf {
			if s.set == s.given {
				s.set = nil
			}
			e.prog.dev.destroy(e.context, s.given)
			s.given = nil
		}
		<-e.lane
	default:
	}
}

// sync makes bytes visible to the other side, where the driver has a function for that.
func (d *Device) sync(context uintptr, m *memory, mode uint32) error {
	if !d.driver.Has("rknn_mem_sync") {
		return nil
	}
	code, err := d.driver.MemSync(context, driver.Pointer(m.at), mode)
	return call("rknn_mem_sync", code, err)
}
