package mem

import "unsafe"

// Elements returns the whole elements of b as values of T, a kind of number, in the order of bytes of this machine.
// They share memory, and need not be aligned.
func Elements[T any](b []byte) []T {
	var one T
	n := len(b) / int(unsafe.Sizeof(one))
	if n == 0 { // less than one element lies there: a pointer to one would lead beyond the memory
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}

// Bytes returns the memory of v, a slice of numbers, as bytes.
func Bytes[T any](v []T) []byte {
	var one T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(one)))
}
