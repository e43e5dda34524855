package hbdnn

import "github.com/anynpu/anynpu/core/io"

// guarded calls f, which touches memory of the program: what says whose. Memory that has vanished is an error of the
// call with this code.
func guarded(code Code, what string, f func() error) error {
	return io.Guarded(f, func(addr uintptr) error {
		return refuse(code, "%s cannot be used at address %#x: the program has freed, unmapped or cut it", what, addr)
	})
}
