package hbdnn

import (
	"unsafe"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/io"
)

// guarded calls f, which touches memory of the program: what says whose. Memory that has vanished is an error of the
// call with this code.
func guarded(code Code, what string, f func() error) error {
	return io.Guarded(f, func(addr uintptr) error {
		return refuse(code, "%s cannot be used at address %#x: the program has freed, unmapped or cut it", what, addr)
	})
}

// cString copies a NUL-terminated string of C memory.
func cString(addr uintptr) (string, error) {
	const page = 4096 // the smallest of any host
	p := cPointer(addr)
	for n := 0; ; n++ {
		at := unsafe.Add(p, n)
		if n == 0 || uintptr(at)%page == 0 {
			if err := boundary.CheckRange(at, 1); err != nil {
				return "", err
			}
		}
		if *(*byte)(at) == 0 {
			return boundary.CopyString(p)
		}
	}
}
