package hbdnn

import (
	"sort"
	"sync"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
)

// A block is memory that a program allocated. hbSysMem has no word of ours: it is found by its address.
type block struct {
	addr  uintptr
	size  uint32
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

// pin returns n bytes at addr as a buffer, which keeps a block of ours alive. room is what is left of the block there
// when n is more; then there is no buffer.
func pin(addr uintptr, n int64) (b mem.Buffer, room int64, err error) {
	memories.mu.RLock()
	defer memories.mu.RUnlock()
	own := blockOf(addr)
	if own == nil {
		return mem.Borrow(bytesAt(addr, n), nil), n, nil
	}
	off := int64(addr - own.addr)
	if left := int64(own.size) - off; n > left {
		return nil, left, nil
	}
	b, err = mem.Sub(own.buf, off, n)
	return b, n, err
}

// pinned pins need bytes, which the memory says it has. name is that of the memory.
func pinned(m *SysMem, name string, need int64) (mem.Buffer, error) {
	if m.virt == 0 {
		return nil, invalid("%s.virAddr is NULL: want %d bytes", name, need)
	}
	if err := boundary.CheckRange(cPointer(m.virt), uint64(need)); err != nil {
		return nil, fault.Wrap(err, "%s.virAddr", name)
	}
	buf, room, err := pin(m.virt, need)
	if err == nil && buf == nil {
		err = invalid("%s has %d bytes from virAddr to the end of the memory that hbSysAllocMem made: want %d", name, room,
			need)
	}
	if err != nil {
		return nil, err
	}
	return onBoard(m, buf, need), nil
}
