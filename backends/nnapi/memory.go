package nnapi

import (
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/mem"
)

// Own implements driver.Calls: bytes, which the driver finds by their address.
func (e *execution) Own(s *driver.Slot) (*driver.Memory, error) {
	bytes, err := mem.Make[byte](int(s.Room()))
	if err != nil {
		return nil, err
	}
	pin := &runtime.Pinner{}
	pin.Pin(&bytes[0])
	return &driver.Memory{Bytes: bytes, End: pin.Unpin}, nil
}

// Take implements driver.Calls: a file, which the driver maps.
func (e *execution) Take(s *driver.Slot, v mem.View) *driver.Memory {
	d := e.prog.dev
	if v.Buf.Size() < v.Off+s.Size || !d.driver.Has("ANeuralNetworksExecution_setInputFromMemory") ||
		!d.driver.Has("ANeuralNetworksExecution_setOutputFromMemory") {
		return nil
	}
	at := d.share(v.Buf, v.Off+s.Size, unix.PROT_READ|unix.PROT_WRITE)
	if at == 0 {
		return nil
	}
	v.Buf.Retain()
	return &driver.Memory{At: at, Buf: v.Buf, Off: v.Off, End: func() { d.unshare(at) }}
}
