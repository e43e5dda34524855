package boundary

/*
#include <stdlib.h>
#include <string.h>

// C.malloc itself ends the process when there is no memory.
static void *take(size_t n) { return calloc(1, n); }

struct kept {
	struct kept *next;
	void *block;
};

static struct kept *kept_blocks;

// Makes a block reachable from C data, where leak checkers look; they do not look into the memory of Go.
static void keep(void *block)
{
	struct kept *k = malloc(sizeof *k);
	if (!k)
		return;
	k->block = block;
	k->next = __atomic_load_n(&kept_blocks, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&kept_blocks, &k->next, k, 1, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}
*/
import "C"

import (
	"unsafe"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
)

// A Block is C memory that a program may keep pointers into: a name, a shape, a list. The zero Block is empty.
type Block struct{ addr unsafe.Pointer }

// Addr returns the address of the block, 0 if it is empty.
func (b *Block) Addr() uintptr { return uintptr(b.addr) }

// Free releases the memory; the block is empty afterwards.
func (b *Block) Free() {
	C.free(b.addr)
	b.addr = nil
}

// Keep tells leak checkers that the block, as it is now, lives as long as the process.
func (b *Block) Keep() { C.keep(b.addr) }

// resize gives the block n bytes of new memory, 0 for none.
func (b *Block) resize(n int) {
	b.Free()
	if n > 0 {
		if b.addr = C.take(C.size_t(n)); b.addr == nil {
			panic(fault.New(fault.Memory, "%d bytes of C memory "+
				"[boundary-bytes-memory]", n)) // which the guard turns into a status
		}
	}
}

// Reserve replaces the contents by n zeroed bytes, for sizes that a model or a program decides. Kind fault.Memory.
func (b *Block) Reserve(n int) error {
	b.Free()
	if err := mem.Admit(int64(n)); err != nil {
		return err
	}
	if b.addr = C.take(C.size_t(max(n, 1))); b.addr == nil {
		return fault.As(fault.Memory, mem.ErrExhausted, "%d bytes of C memory [boundary-bytes-memory]", n)
	}
	return nil
}

// StoreString is SetString for strings that a program decides. Kind fault.Memory.
func (b *Block) StoreString(s string) error {
	err := b.Reserve(len(s) + 1)
	if err == nil {
		copy(unsafe.Slice((*byte)(b.addr), len(s)), s)
	}
	return err
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

// CopyString copies a C string, however long a program has made it. Kind fault.Memory.
func CopyString(p unsafe.Pointer) (string, error) {
	n := int(C.strlen((*C.char)(p)))
	if err := mem.Admit(4 * int64(n)); err != nil { // and what errors and lists make of it
		return "", fault.Wrap(err, "a string of %d characters", n)
	}
	return string(unsafe.Slice((*byte)(p), n)), nil
}

// CString copies a C string whose end is not known to lie in memory that can be read.
func CString(p unsafe.Pointer) (string, error) {
	const page = 4096 // the smallest of any host
	for n := 0; ; n++ {
		at := unsafe.Add(p, n)
		if n == 0 || uintptr(at)%page == 0 {
			if err := CheckRange(at, 1); err != nil {
				return "", err
			}
		}
		if *(*byte)(at) == 0 {
			return CopyString(p)
		}
	}
}
