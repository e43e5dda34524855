package nnapi

import (
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// memory is where the driver reads or writes an input or output.
type memory struct {
	at    uintptr    // of the driver's, of a file; 0: bytes, by their address
	buf   mem.Buffer // whose bytes they are, with a reference; nil: the execution's own
	off   int64      // of the bytes in buf
	begin int64      // of the bytes in the file
	bytes []byte
	pin   runtime.Pinner
}

// own makes memory of an execution's own.
func own(size int64) (*memory, error) {
	bytes, err := mem.Make[byte](int(size))
	if err != nil {
		return nil, err
	}
	m := &memory{bytes: bytes}
	m.pin.Pin(&m.bytes[0])
	return m, nil
}

// take has the driver map a view of a file; nil when it takes no such memory.
func (d *Device) take(v mem.View, size int64) *memory {
	_, base, ok := v.Buf.FD()
	if !ok || v.Buf.Size() < v.Off+size || !d.driver.Has("ANeuralNetworksExecution_setInputFromMemory") ||
		!d.driver.Has("ANeuralNetworksExecution_setOutputFromMemory") {
		return nil
	}
	at := d.share(v.Buf, v.Off+size, unix.PROT_READ|unix.PROT_WRITE)
	if at == 0 {
		return nil
	}
	v.Buf.Retain()
	return &memory{at: at, buf: v.Buf, off: v.Off, begin: base + v.Off}
}

// free ends memory; the driver is asked only while it can be called.
func (d *Device) free(m *memory) {
	if m == nil {
		return
	}
	if m.at != 0 && d.life.Alive() == nil {
		_ = d.driver.MemoryFree(m.at) // nothing is left to do with an error
	}
	if m.buf != nil {
		m.buf.Release()
	}
	m.pin.Unpin()
}

// slot is the memory of one input or output of an execution.
type slot struct {
	typ   tensor.Type
	size  int64
	own   *memory // nil: not needed so far
	given *memory // of the buffer that was bound last, nil: none that the driver takes
	set   *memory // what the driver reads or writes
}

// use has the driver work on a bound view where it can, else on memory of the execution's own, which is then to be
// copied.
func (d *Device) use(s *slot, v mem.View) (copied bool, err error) {
	if s.given != nil && (s.given.buf != v.Buf || s.given.off != v.Off || !v.Contiguous()) {
		s.drop(d)
	}
	if s.given == nil && v.Buf != nil && v.Contiguous() {
		s.given = d.take(v, s.size)
	}
	if s.set = s.given; s.set != nil {
		return false, nil
	}
	if s.own == nil {
		if s.own, err = own(s.size); err != nil {
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
	d.free(s.given)
	s.given = nil
}
