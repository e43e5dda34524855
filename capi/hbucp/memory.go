package hbucp

import (
	"math"

	"github.com/anynpu/anynpu/capi/hb"
)

// ucpMalloc allocates zeroed memory. The processor sees it as devices do.
func ucpMalloc(m *SysMem, size uint64, _ int32) error { return allocate(m, size, false) }

// ucpMallocCached is ucpMalloc, but for the check of flushes.
func ucpMallocCached(m *SysMem, size uint64, _ int32) error { return allocate(m, size, true) }

func allocate(m *SysMem, size uint64, cached bool) error {
	switch {
	case size == 0:
		return hb.Invalid("size is 0: memory has at least 1 byte [hbucp-size-memory-byte]")
	case size > math.MaxInt64/2:
		return hb.Refuse(hb.NoSysMemory, "size is %d: that is more than a process can have [hbucp-size-process]", size)
	}
	addr, err := api.Allocate(int64(size), cached)
	if err != nil {
		return err
	}
	*m = SysMem{phys: uint64(addr), virt: addr, size: size}
	return nil
}

// ucpMemFlush has nothing to do: memory is coherent. A part of a memory may be flushed, also of one that the library
// did not allocate.
func ucpMemFlush(m *SysMem, flag int32) error {
	if flag != flushInvalidate && flag != flushClean {
		return hb.Invalid("flag is %d: want HB_SYS_MEM_CACHE_INVALIDATE (1) or HB_SYS_MEM_CACHE_CLEAN (2) "+
			"[hbucp-flag-mem-cache]", flag)
	}
	if m.virt == 0 || m.size == 0 {
		code := errFlush
		if flag == flushInvalidate {
			code = errInvalidate
		}
		return hb.Refuse(code, "mem->virAddr is %#x and mem->memSize %d: want memory "+
			"[hbucp-mem-vir-addr]", m.virt, m.size)
	}
	hb.Flushed(m.virt, int64(min(m.size, math.MaxInt64)), flag == flushClean)
	return nil
}

// ucpFree frees an allocation, known by its address alone.
func ucpFree(m *SysMem) error {
	hb.Invalidated(m.virt, math.MaxInt64, "hbUCPFree")
	switch ok, inside, behind := hb.Free(m.virt); {
	case inside:
		return hb.Refuse(errFree, "mem->virAddr is %#x, %d bytes behind the start of a memory: want the address that "+
			"the allocation gave [hbucp-mem-vir-addr-bytes]", m.virt, behind)
	case !ok:
		return hb.Refuse(errFree, "mem->virAddr is %#x: no memory of hbUCPMalloc or hbUCPMallocCached that is not freed "+
			"begins there [hbucp-mem-vir-addr-no]", m.virt)
	}
	*m = SysMem{}
	return nil
}
