package hbdnn

import (
	"math"
	"slices"
	"sort"

	"github.com/anynpu/anynpu/core/mem"
)

// sysAllocMem allocates zeroed memory. The processor sees it as devices do.
func sysAllocMem(m *SysMem, size uint32) error { return allocate(m, size, nil) }

// sysAllocCachedMem is sysAllocMem, but for the check of flushes.
func sysAllocCachedMem(m *SysMem, size uint32) error { return allocate(m, size, newCache(size)) }

func allocate(m *SysMem, size uint32, c *cache) (err error) {
	defer func() {
		if err != nil {
			c.release()
		}
	}()
	if size == 0 {
		return refuse(errSysArgument, "size is 0: memory has at least 1 byte")
	}
	buf, err := mem.Host(int64(size), mem.Options{Align: memoryAlignment})
	if err != nil {
		return refuseFor(errSysMemory, err, "size is %d", size)
	}
	data, err := buf.Map()
	if err != nil {
		buf.Release()
		return err
	}
	b := &block{addr: addressOf(data), size: size, buf: buf, cache: c}
	memories.mu.Lock()
	defer memories.mu.Unlock()
	at := sort.Search(len(memories.blocks), func(i int) bool { return memories.blocks[i].addr > b.addr })
	memories.blocks = slices.Insert(memories.blocks, at, b)
	*m = SysMem{phys: uint64(b.addr), virt: b.addr, size: size}
	return nil
}

// sysFlushMem has nothing to do: memory is coherent. A part of a memory, also one that nobody allocated, may be flushed.
func sysFlushMem(m *SysMem, flag int32) error {
	if flag != flushInvalidate && flag != flushClean {
		return refuse(errSysArgument, "flag is %d: want HB_SYS_MEM_CACHE_INVALIDATE (1) or HB_SYS_MEM_CACHE_CLEAN (2)", flag)
	}
	flushed(m, flag)
	return nil
}

// sysFreeMem frees what sysAllocMem made; a task that uses the memory keeps the bytes until it is done.
func sysFreeMem(m *SysMem) error {
	invalidated(m.virt, math.MaxInt64, "hbSysFreeMem")
	memories.mu.Lock()
	b := blockOf(m.virt)
	if b != nil && b.addr == m.virt {
		at := slices.Index(memories.blocks, b)
		memories.blocks = slices.Delete(memories.blocks, at, at+1)
	}
	memories.mu.Unlock()
	switch {
	case b == nil:
		return refuse(errSysArgument, "mem->virAddr is %#x: no memory of hbSysAllocMem or hbSysAllocCachedMem that is not "+
			"freed begins there", m.virt)
	case b.addr != m.virt:
		return refuse(errSysArgument, "mem->virAddr is %#x, %d bytes behind the start of a memory: want the address that "+
			"hbSysAllocMem gave", m.virt, m.virt-b.addr)
	}
	*m = SysMem{}
	b.cache.release()
	b.buf.Release()
	return nil
}

// sysWriteMem copies bytes to the start of a memory.
func sysWriteMem(dest *SysMem, src []byte) error {
	return move("dest", dest, len(src), func(data []byte) { copy(data, src) })
}

// sysReadMem copies bytes from the start of a memory.
func sysReadMem(dest []byte, src *SysMem) error {
	invalidated(src.virt, int64(len(dest)), "hbSysReadMem")
	return move("src", src, len(dest), func(data []byte) { copy(dest, data) })
}

// move calls f with the first n bytes of a memory.
func move(name string, m *SysMem, n int, f func(data []byte)) error {
	switch {
	case m.virt == 0:
		return refuse(errSysArgument, "%s->virAddr is NULL", name)
	case uint64(n) > uint64(m.size):
		return refuse(errSysArgument, "size is %d: %s->memSize is %d", n, name, m.size)
	case n == 0:
		return nil
	}
	buf, room, err := pin(m.virt, int64(n))
	if err != nil {
		return err
	}
	if buf == nil {
		return refuse(errSysArgument, "size is %d: the memory of %s has %d bytes from virAddr on", n, name, room)
	}
	defer buf.Release()
	data, err := buf.Map()
	if err != nil {
		return err
	}
	return guarded(errSysArgument, name+": memory", func() error {
		f(data)
		return nil
	})
}

// sysRegisterMem accepts memory of the program's own, which needs no registration.
func sysRegisterMem(m *SysMem) error {
	if m.virt == 0 {
		return refuse(errSysRegister, "mem->virAddr is NULL: physical memory cannot be mapped here; set virAddr to memory of "+
			"the program")
	}
	return nil
}

// sysUnregisterMem ends what sysRegisterMem did, which is nothing.
func sysUnregisterMem(*SysMem) error { return nil }
