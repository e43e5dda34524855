package boundary

/*
#include <stdlib.h>
*/
import "C"

import "unsafe"

// A Block is C memory that a program may keep pointers into: a name, a shape, a list. The zero Block is empty.
type Block struct{ addr unsafe.Pointer }

// Addr returns the address of the block, 0 if it is empty.
func (b *Block) Addr() uintptr { return uintptr(b.addr) }

// Free releases the memory; the block is empty afterwards.
func (b *Block) Free() {
	C.free(b.addr)
	b.addr = nil
}

// resize gives the block n bytes of new memory, 0 for none.
func (b *Block) resize(n int) {
	b.Free()
	if n > 0 {
		b.addr = C.malloc(C.size_t(n)) // cgo turns a NULL result into a panic, the guard into a status
	}
}

// SetString replaces the block's contents by s and a closing NUL. Pointers into the old contents become invalid.
func (b *Block) SetString(s string) {
	b.resize(len(s) + 1)
	p := unsafe.Slice((*byte)(b.addr), len(s)+1)
	p[copy(p, s)] = 0
}

// SetSlice replaces the contents of b by a copy of v; an empty v leaves the block empty. T must hold no Go pointers.
func SetSlice[T any](b *Block, v []T) {
	var t T
	b.resize(len(v) * int(unsafe.Sizeof(t)))
	if len(v) > 0 {
		copy(unsafe.Slice((*T)(b.addr), len(v)), v)
	}
}
