// Package cmem reads and writes memory that the suites share with a C library. An address is only as valid as the
// library's promise: a wrong one ends the process, which the suites report as a crash.
package cmem

import (
	"slices"
	"unsafe"
)

// Address returns the address of *p. The caller keeps p alive as long as the library may use it.
func Address[E any](p *E) uintptr { return uintptr(unsafe.Pointer(p)) }

// First returns the address of the first element of v, 0 if there is no room for one.
func First[E any](v []E) uintptr { return Address(unsafe.SliceData(v)) }

// At returns the value at an address that the library gave.
func At[E any](addr uintptr) *E { return *(**E)(unsafe.Pointer(&addr)) }

// Span returns n elements of the library's memory, nil at address 0. Writes go to the library.
func Span[E any](addr uintptr, n int) []E {
	if addr == 0 {
		return nil
	}
	return unsafe.Slice(At[E](addr), n)
}

// Copy returns a copy of n elements of the library's memory, nil at address 0.
func Copy[E any](addr uintptr, n int) []E { return slices.Clone(Span[E](addr, n)) }

// Text copies the string at an address that the library gave, "" at address 0.
func Text(addr uintptr) string {
	if addr == 0 {
		return ""
	}
	var b []byte
	for p := addr; ; p++ {
		c := *At[byte](p)
		if c == 0 {
			return string(b)
		}
		b = append(b, c)
	}
}

// Bytes returns the memory of a slice.
func Bytes[E any](v []E) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(*new(E))))
}

// As copies bytes into elements in the machine's byte order; an incomplete last one is left out.
func As[E any](b []byte) []E {
	out := make([]E, len(b)/int(unsafe.Sizeof(*new(E))))
	copy(Bytes(out), b)
	return out
}
