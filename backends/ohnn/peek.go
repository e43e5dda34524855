package ohnn

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"unicode/utf8"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/fault"
)

// maxName bounds what a driver calls a device.
const maxName = 255

// peek copies n bytes of memory that a driver has pointed to. An address that cannot be read is an error of kind
// fault.Device; where the kernel gives no way to find out, the address is believed.
func peek(at uintptr, n int) ([]byte, error) {
	if at == 0 {
		return nil, fault.New(fault.Device, "the driver points to nothing")
	}
	out := make([]byte, n)
	if n == 0 {
		return out, nil
	}
	local := []unix.Iovec{{Base: &out[0]}}
	local[0].SetLen(n)
	got, err := unix.ProcessVMReadv(os.Getpid(), local, []unix.RemoteIovec{{Base: at, Len: n}}, 0)
	switch {
	case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EPERM):
		copy(out, unsafe.Slice((*byte)(pointer(at)), n))
	case err != nil || got != n:
		return nil, fault.New(fault.Device, "the driver points to %d bytes at address %#x that cannot be read", n, at)
	}
	return out, nil
}

// text copies a name that a driver has pointed to.
func text(at uintptr) (string, error) {
	page := uintptr(os.Getpagesize())
	var out []byte
	for len(out) <= maxName {
		n := min(int(page-at%page), maxName+1-len(out))
		part, err := peek(at, n)
		if err != nil {
			return "", err
		}
		end := bytes.IndexByte(part, 0)
		if end >= 0 {
			out = append(out, part[:end]...)
			if !utf8.Valid(out) {
				return "", fault.New(fault.Device, "the name %q is no UTF-8", out)
			}
			return string(out), nil
		}
		out, at = append(out, part...), at+uintptr(n)
	}
	return "", fault.New(fault.Device, "a name has no end within %d bytes", maxName)
}

// int32s are numbers that a driver has pointed to.
func int32s(at uintptr, n int) ([]int64, error) {
	data, err := peek(at, 4*n)
	if err != nil {
		return nil, err
	}
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(int32(binary.LittleEndian.Uint32(data[4*i:])))
	}
	return out, nil
}
