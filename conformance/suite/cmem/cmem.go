// Package cmem reads and writes memory that the suites share with a C library. An address is only as valid as the
// library's promise: a wrong one ends the process, which the suites report as a crash.
package cmem

import (
	"slices"
	"unsafe"
)

// Address returns the address of *p. The caller keeps p alive as long as the library may use it.
func Address[E any](p *E) uintptr {
	held(p, 1)
	return uintptrOf(p)
}

func uintptrOf[E any](p *E) uintptr { return uintptr(unsafe.Pointer(p)) }

// First returns the address of the first element of v, 0 if there is no room for one.
func First[E any](v []E) uintptr { return uintptrOf(Pointer(v)) }

// Pointer returns a pointer to the first element of v, nil if there is no room for one.
func Pointer[E any](v []E) *E {
	p := unsafe.SliceData(v)
	held(p, len(v))
	return p
}

// At returns the value at an address that the library gave.
func At[E any](addr uintptr) *E {
	seen[E](addr, 1)
	return at[E](addr)
}

func at[E any](addr uintptr) *E { return *(**E)(unsafe.Pointer(&addr)) }

// Span returns n elements of the library's memory, nil at address 0. Writes go to the library.
func Span[E any](addr uintptr, n int) []E {
	if addr == 0 {
		return nil
	}
	seen[E](addr, n)
	return unsafe.Slice(at[E](addr), n)
}

// Copy returns a copy of n elements of the library's memory, nil at address 0.
func Copy[E any](addr uintptr, n int) []E {
	if addr == 0 {
		return nil
	}
	v := slices.Clone(unsafe.Slice(at[E](addr), n))
	read(addr, v)
	return v
}

// Text copies the string at an address that the library gave, "" at address 0.
func Text(addr uintptr) string {
	if addr == 0 {
		return ""
	}
	var b []byte
	for p := addr; ; p++ {
		c := *at[byte](p)
		if c == 0 {
			read(addr, append(b, 0))
			return string(b)
		}
		b = append(b, c)
	}
}

// Bytes returns the memory of a slice.
func Bytes[E any](v []E) []byte { return bytesOf(v) }

func bytesOf[E any](v []E) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(*new(E))))
}

// As copies bytes into elements in the machine's byte order; an incomplete last one is left out.
func As[E any](b []byte) []E {
	out := make([]E, len(b)/int(unsafe.Sizeof(*new(E))))
	copy(Bytes(out), b)
	return out
}
