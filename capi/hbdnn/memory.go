package hbdnn

import (
	"math"

	"github.com/anynpu/anynpu/capi/hb"
)

// sysAllocMem allocates zeroed memory. The processor sees it as devices do.
func sysAllocMem(m *SysMem, size uint32) error { return allocate(m, size, false) }

// sysAllocCachedMem is sysAllocMem, but for the check of flushes.
func sysAllocCachedMem(m *SysMem, size uint32) error { return allocate(m, size, true) }

func allocate(m *SysMem, size uint32, cached bool) error {
	if size == 0 {
		return refuse(errSysArgument, "size is 0: memory has at least 1 byte [hbdnn-size-memory-byte]")
	}
	addr, err := api.Allocate(int64(size), cached)
	if err != nil {
		return err
	}
	*m = SysMem{phys: uint64(addr), virt: addr, size: size}
	return nil
}

// sysFlushMem has nothing to do: memory is coherent. A part of a memory may be flushed, also of one that the library
// did not allocate.
func sysFlushMem(m *SysMem, flag int32) error {
	if flag != flushInvalidate && flag != flushClean {
		return refuse(errSysArgument, "flag is %d: want HB_SYS_MEM_CACHE_INVALIDATE (1) or "+
			"HB_SYS_MEM_CACHE_CLEAN (2) [hbdnn-flag-mem-cache]", flag)
	}
	hb.Flushed(m.virt, int64(m.size), flag == flushClean)
	return nil
}

// sysFreeMem frees memory of sysAllocMem; a task that uses the memory keeps the bytes until it is done.
func sysFreeMem(m *SysMem) error {
	hb.Invalidated(m.virt, math.MaxInt64, "hbSysFreeMem")
	switch ok, inside, behind := hb.Free(m.virt); {
	case inside:
		return refuse(errSysArgument, "mem->virAddr is %#x, %d bytes behind the start of a memory: want the address that "+
			"hbSysAllocMem gave [hbdnn-mem-vir-addr]", m.virt, behind)
	case !ok:
		return refuse(errSysArgument, "mem->virAddr is %#x: no memory of hbSysAllocMem or hbSysAllocCachedMem that is not "+
			"freed begins there [hbdnn-mem-vir-addr-no]", m.virt)
	}
	*m = SysMem{}
	return nil
}

// sysWriteMem copies bytes to the start of a memory.
func sysWriteMem(dest *SysMem, src []byte) error {
	return move("dest", dest, len(src), func(data []byte) { copy(data, src) })
}

// sysReadMem copies bytes from the start of a memory.
func sysReadMem(dest []byte, src *SysMem) error {
	hb.Invalidated(src.virt, int64(len(dest)), "hbSysReadMem")
	return move("src", src, len(dest), func(data []byte) { copy(dest, data) })
}

// move calls f with the first n bytes of a memory.
func move(name string, m *SysMem, n int, f func(data []byte)) error {
	switch {
	case m.virt == 0:
		return refuse(errSysArgument, "%s->virAddr is NULL [hbdnn-vir-addr-null]", name)
	case uint64(n) > uint64(m.size):
		return refuse(errSysArgument, "size is %d: %s->memSize is %d [hbdnn-size-mem-size]", n, name, m.size)
	case n == 0:
		return nil
	}
	buf, room, err := hb.Pin(m.virt, int64(n))
	if err != nil {
		return err
	}
	if buf == nil {
		return refuse(errSysArgument, "size is %d: the memory of %s has %d bytes from virAddr on "+
			"[hbdnn-size-memory-bytes]", n, name, room)
	}
	defer buf.Release()
	data, err := buf.Map()
	if err != nil {
		return err
	}
	return hb.Guarded(errSysArgument, name+": memory", func() error {
		f(data)
		return nil
	})
}

// sysRegisterMem accepts memory of the program's own, which needs no registration.
func sysRegisterMem(m *SysMem) error {
	if m.virt == 0 {
		return refuse(errSysRegister, "mem->virAddr is NULL: physical memory cannot be mapped here; set virAddr to memory "+
			"of "+
			"the program [hbdnn-mem-vir-addr-null]")
	}
	return nil
}

// sysUnregisterMem undoes sysRegisterMem, which does nothing.
func sysUnregisterMem(*SysMem) error { return nil }
