package driver

import (
	"bytes"
	"errors"
	"os"
	"unicode/utf8"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/fault"
)

// maxText bounds the strings that a driver gives.
const maxText = 4095

// Peek copies n bytes of memory that a driver has pointed to. An address that cannot be read is an error of kind
// fault.Device; where the kernel gives no way to find out, the address is believed.
func Peek(at uintptr, n int) ([]byte, error) {
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
		copy(out, unsafe.Slice((*byte)(Pointer(at)), n))
	case err != nil || got != n:
		return nil, fault.New(fault.Device, "the driver points to %d bytes at address %#x that cannot be read", n, at)
	}
	return out, nil
}

// Text copies a string that a driver has pointed to. Kind fault.Device for one without an end, or that is no UTF-8.
func Text(at uintptr) (string, error) {
	page := uintptr(os.Getpagesize())
	var out []byte
	for len(out) <= maxText {
		n := min(int(page-at%page), maxText+1-len(out))
		part, err := Peek(at, n)
		if err != nil {
			return "", err
		}
		if end := bytes.IndexByte(part, 0); end >= 0 {
			if out = append(out, part[:end]...); !utf8.Valid(out) {
				return "", fault.New(fault.Device, "the text %q is no UTF-8", out)
			}
			return string(out), nil
		}
		out, at = append(out, part...), at+uintptr(n)
	}
	return "", fault.New(fault.Device, "a text has no end within %d bytes", maxText)
}

// Pointer makes a pointer of an address of C memory.
func Pointer(at uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&at)) }
