package rknn

import (
	"unsafe"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/mem"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
)

// createMem allocates zeroed memory with a file descriptor that other processes and devices can map, as long as the
// process has enough of them.
func createMem(context uintptr, size uint32) (uintptr, error) {
	if err := aliveContext("ctx", context); err != nil {
		return 0, err
	}
	return allocate(uint64(size))
}

// createMem2 is createMem; what the flags ask for, caches and SRAM, the CPU device does not have. A context is wanted
// unless the flags say RKNN_MEM_FLAG_ALLOC_NO_CONTEXT.
func createMem2(context uintptr, size, flags uint64) (uintptr, error) {
	if flags&memFlagsAllocNoOwner == 0 {
		if err := aliveContext("ctx", context); err != nil {
			return 0, err
		}
	}
	return allocate(size)
}

func allocate(size uint64) (uintptr, error) {
	if size == 0 || size > 1<<32-1 {
		return 0, invalid("size is %d: memory has 1 to %d bytes [rknn-size-memory-bytes]", size, uint64(1<<32-1))
	}
	buf, fd, err := allocated(int64(size))
	if err != nil {
		return 0, err
	}
	data, err := buf.Map()
	if err != nil {
		buf.Release()
		return 0, err
	}
	return memories.add(spec.TensorMem{Virt: addressOf(data), FD: fd, Size: uint32(size), Flags: memAllocInside}, buf)
}

// createMemFromFd describes size bytes of memory that stays the program's, from virt_addr + offset on. Without an
// address, the descriptor is mapped. Memory that lies in one made by rknn_create_mem keeps that alive.
func createMemFromFd(context uintptr, fd int32, virt unsafe.Pointer, size uint32, offset int32) (uintptr, error) {
	if err := aliveContext("ctx", context); err != nil {
		return 0, err
	}
	switch {
	case size == 0:
		return 0, invalid("size is 0: memory has at least 1 byte [rknn-size-memory-byte]")
	case offset < 0:
		return 0, invalid("offset is %d: the bytes begin 0 or more behind virt_addr or the start of fd "+
			"[rknn-offset-bytes-begin]", offset)
	case virt == nil && fd < 0:
		return 0, invalid("fd is %d: with virt_addr NULL an open file descriptor is mapped [rknn-fd-virt-addr]", fd)
	}
	info := spec.TensorMem{Virt: uintptr(virt), FD: fd, Offset: offset, Size: size, Flags: memFromFD}
	if virt == nil {
		buf, err := mem.ImportFD(int(fd), int64(offset), int64(size), false)
		if err != nil {
			return 0, refuseFor(spec.ErrParam, err, "fd is %d, offset %d, size %d "+
				"[rknn-fd-offset-size]", fd, offset, size)
		}
		data, err := buf.Map()
		if err != nil {
			buf.Release()
			return 0, err
		}
		info.Virt = addressOf(data) - uintptr(offset)
		return memories.add(info, buf)
	}
	return describeMem(info)
}

// describeMem makes a struct for memory that stays the program's, from info.virt + info.offset on.
func describeMem(info spec.TensorMem) (uintptr, error) {
	at, size := info.Virt+uintptr(info.Offset), info.Size
	if buf := memories.within(at, int64(size)); buf != nil {
		return memories.add(info, buf)
	}
	if err := boundary.CheckRange(cPointer(at), uint64(size)); err != nil {
		return 0, err
	}
	return memories.add(info, mem.BorrowMapped(unsafe.Slice((*byte)(cPointer(at)), int(size)), nil))
}

// createMemFromPhys describes size bytes of memory that stays the program's by the address at which the program has
// mapped it; phys_addr is kept and not used. Without that address it is refused: a process cannot map memory by its
// physical one.
func createMemFromPhys(_ *Context, phys uint64, virt unsafe.Pointer, size uint32) (uintptr, error) {
	switch {
	case size == 0:
		return 0, invalid("size is 0: memory has at least 1 byte [rknn-size-memory-byte]")
	case virt == nil:
		return 0, failed("phys_addr is %#x, virt_addr NULL, size %d: physical memory cannot be reached from this process: "+
			"give the address at which the program has mapped it, or use rknn_create_mem, or rknn_create_mem_from_fd with the "+
			"memory's descriptor [rknn-phys-addr-virt]", phys, size)
	}
	return describeMem(spec.TensorMem{Virt: uintptr(virt), Phys: phys, FD: -1, Size: size, Flags: memFromPhys})
}

// createMemFromMbBlk is refused: there is no media driver whose blocks could be taken.
func createMemFromMbBlk(_ *Context, block unsafe.Pointer, _ int32) (uintptr, error) {
	return 0, failed("mb_blk is %p: there is no media driver that has made it: use rknn_create_mem_from_fd with the "+
		"block's descriptor [rknn-mb-blk-no]", block)
}

// destoryMem is destroyMem under the name of headers before 1.3.
func destoryMem(context uintptr, m *spec.TensorMem) error { return destroyMem(context, m) }

// destroyMem ends a memory of any context, alive or not (section 11). Contexts that have it bound find it gone at their
// next run.
func destroyMem(_ uintptr, m *spec.TensorMem) error {
	if !memories.remove(m) {
		return invalid("mem is %p: this is no memory of rknn_create_mem or rknn_create_mem_from_fd, or it was "+
			"destroyed [rknn-mem-no-memory]", m)
	}
	return nil
}

// memSync has nothing to do: host and device see the same bytes. The struct need not be one of this library.
func memSync(context uintptr, _ *spec.TensorMem, mode spec.MemSyncMode) error {
	if err := aliveContext("context", context); err != nil {
		return err
	}
	if mode < 1 || mode > 3 {
		return invalid("mode is %d: it can be RKNN_MEMORY_SYNC_TO_DEVICE (1), RKNN_MEMORY_SYNC_FROM_DEVICE (2) or "+
			"RKNN_MEMORY_SYNC_BIDIRECTIONAL (3) [rknn-mode-memory-sync]", mode)
	}
	return nil
}

// setWeightMem and setInternalMem take memory for weights and intermediate results. The CPU device keeps its own and
// never looks at it.
func setWeightMem(c *Context, m *spec.TensorMem) error {
	return c.checkSpare(m, "total_weight_size", c.memSize().weight)
}

func setInternalMem(c *Context, m *spec.TensorMem) error {
	return c.checkSpare(m, "total_internal_size", c.memSize().internal)
}

func (c *Context) checkSpare(m *spec.TensorMem, what string, need uint32) error {
	r := memories.find(m)
	if r == nil {
		return invalid("mem is %p: this is no memory of rknn_create_mem or rknn_create_mem_from_fd, or it was "+
			"destroyed [rknn-mem-no-memory]", m)
	}
	if have := r.buf.Size(); have < int64(need) {
		return invalid("mem->size is %d: %s of RKNN_QUERY_MEM_SIZE is %d [rknn-mem-size-query]", have, what, need)
	}
	return nil
}
