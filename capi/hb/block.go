package hb

import (
	"slices"
	"sort"
	"sync"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
)

// A block is memory that a program allocated. The structs that describe memory have no word of ours: a block is found
// by its address.
type block struct {
	api   *API
	addr  uintptr
	size  int64
	buf   mem.Buffer
	cache *cache // nil: it has none, or flushes are not checked
}

// memories are the blocks that are not freed, by address.
var memories struct {
	mu     sync.RWMutex
	blocks []*block
}

// blockOf returns the block that the byte at addr lies in, nil if there is none; the lock is held.
func blockOf(addr uintptr) *block {
	list := memories.blocks
	i := sort.Search(len(list), func(i int) bool { return list[i].addr > addr })
	if i == 0 || addr-list[i-1].addr >= uintptr(list[i-1].size) {
		return nil
	}
	return list[i-1]
}

// Allocate makes size zeroed bytes, more than 0, and returns their address. The processor sees them as devices do;
// cached ones are subject to the check of flushes.
func (a *API) Allocate(size int64, cached bool) (addr uintptr, err error) {
	var c *cache
	if cached {
		c = newCache(size)
	}
	defer func() {
		if err != nil {
			c.release()
		}
	}()
	buf, err := mem.Host(size, mem.Options{Align: memoryAlignment})
	if err != nil {
		return 0, RefuseFor(NoSysMemory, err, "size is %d", size)
	}
	data, err := buf.Map()
	if err != nil {
		buf.Release()
		return 0, err
	}
	b := &block{api: a, addr: AddressOf(data), size: size, buf: buf, cache: c}
	memories.mu.Lock()
	defer memories.mu.Unlock()
	at := sort.Search(len(memories.blocks), func(i int) bool { return memories.blocks[i].addr > b.addr })
	memories.blocks = slices.Insert(memories.blocks, at, b)
	return b.addr, nil
}

// Free frees the block that begins at addr; a task that uses the memory keeps the bytes until it is done. Where none
// begins, inside says that addr lies in one, behind bytes behind its start.
func Free(addr uintptr) (ok, inside bool, behind uintptr) {
	memories.mu.Lock()
	b := blockOf(addr)
	if b != nil && b.addr == addr {
		at := slices.Index(memories.blocks, b)
		memories.blocks = slices.Delete(memories.blocks, at, at+1)
	}
	memories.mu.Unlock()
	switch {
	case b == nil:
		return false, false, 0
	case b.addr != addr:
		return false, true, addr - b.addr
	}
	b.cache.release()
	b.buf.Release()
	return true, false, 0
}

// Pin returns n bytes at addr as a buffer, which keeps a block of ours alive. room is the rest of the block there when
// n is more; then there is no buffer.
func Pin(addr uintptr, n int64) (b mem.Buffer, room int64, err error) {
	memories.mu.RLock()
	defer memories.mu.RUnlock()
	own := blockOf(addr)
	if own == nil {
		return mem.Borrow(BytesAt(addr, n), nil), n, nil
	}
	off := int64(addr - own.addr)
	if left := own.size - off; n > left {
		return nil, left, nil
	}
	b, err = mem.Sub(own.buf, off, n)
	return b, n, err
}

// Pinned pins need bytes at virt, which the memory called name says it has.
func (a *API) Pinned(virt uintptr, name string, need int64) (mem.Buffer, error) {
	if virt == 0 {
		return nil, Invalid("%s.virAddr is NULL: want %d bytes [hb-vir-addr-null]", name, need)
	}
	if err := boundary.CheckRange(CPointer(virt), uint64(need)); err != nil {
		return nil, fault.Wrap(err, "%s.virAddr", name)
	}
	buf, room, err := Pin(virt, need)
	if err == nil && buf == nil {
		err = Invalid("%s has %d bytes from virAddr to the end of the memory that %s made: want %d "+
			"[hb-bytes-vir-addr]", name, room, a.Alloc,
			need)
	}
	if err != nil {
		return nil, err
	}
	return buf, nil
}
