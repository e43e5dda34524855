package io

import "runtime/debug"

// Guarded calls f, which reads or writes memory of a program. Memory that the program has freed or unmapped, or whose
// file it has cut, is an error then, the one that vanished makes of the address, and not the end of the process. Any
// other panic goes on.
func Guarded(f func() error, vanished func(addr uintptr) error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch v := recover().(type) {
		case nil:
		case interface{ Addr() uintptr }:
			err = vanished(v.Addr())
		default:
			panic(v)
		}
	}()
	return f()
}
