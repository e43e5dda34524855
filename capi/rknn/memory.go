package rknn

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/core/io"
	"github.com/anynpu/anynpu/core/mem"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
)

// memory is one rknn_tensor_mem (section 5). Its handle is only in the struct.
type memory struct {
	handle.Ref
	info *spec.TensorMem // in C memory
	buf  mem.Buffer      // the usable bytes: those from virt_addr + offset on
	id   uintptr
}

// memoryTable holds every rknn_tensor_mem. The structs carry a handle in priv_data, by which they are found, and are told
// from a driver's: programs may copy them.
type memoryTable struct {
	mu      sync.Mutex
	byID    map[uintptr]*memory
	structs boundary.Structs[spec.TensorMem]
}

var memories = memoryTable{byID: map[uintptr]*memory{}}

// add makes a struct over buf, whose reference it takes over.
func (t *memoryTable) add(info spec.TensorMem, buf mem.Buffer) (uintptr, error) {
	r := &memory{buf: buf}
	var err error
	if r.id, err = handle.Of(r); err != nil {
		buf.Release()
		return 0, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	r.info = t.structs.Take()
	*r.info = info
	r.info.Priv = r.id
	t.byID[r.id] = r
	return uintptr(unsafe.Pointer(r.info)), nil
}

// find returns the living memory that a program's struct stands for, nil if there is none.
func (t *memoryTable) find(m *spec.TensorMem) *memory {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.byID[m.Priv]
	if r == nil || r.info.Virt != m.Virt {
		return nil
	}
	return r
}

// use returns the buffer of a memory with a reference for the caller, nil if the memory was destroyed.
func (t *memoryTable) use(r *memory) mem.Buffer {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byID[r.id] != r {
		return nil
	}
	r.buf.Retain()
	return r.buf
}

// within returns a part of a living memory that covers n bytes at addr, nil if there is none.
func (t *memoryTable) within(addr uintptr, n int64) mem.Buffer {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range t.byID {
		first := r.info.Virt + uintptr(r.info.Offset)
		if addr < first || addr-first > uintptr(r.info.Size) || n > int64(uintptr(r.info.Size)-(addr-first)) {
			continue
		}
		if part, err := mem.Sub(r.buf, int64(addr-first), n); err == nil {
			return part
		}
	}
	return nil
}

// remove ends a memory; the bytes stay while a run uses them.
func (t *memoryTable) remove(m *spec.TensorMem) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.byID[m.Priv]
	if r == nil || r.info.Virt != m.Virt {
		return false
	}
	delete(t.byID, r.id)
	forget(r)
	t.structs.Return(r.info)
	r.buf.Release()
	return true
}

// forget ends a handle that stands in a struct. Calls that are given it as a context hold it while they look at its kind.
func forget(o handle.Object) {
	for !handle.Drop(o) {
		runtime.Gosched()
	}
}

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
		return 0, invalid("size is %d: memory has 1 to %d bytes", size, uint64(1<<32-1))
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

// fewDescriptors is set when the program was told that memory has no descriptor any more.
var fewDescriptors atomic.Bool

// allocated returns memory and its file descriptor. Programs read a descriptor from the struct without a call, so it
// must be there from the start; few programs look. Memory whose descriptor would be one of the last quarter that the
// process may have gets none, -1: those are the program's.
func allocated(size int64) (buf mem.Buffer, fd int32, err error) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		limit.Cur = 1024
	}
	most := limit.Cur - limit.Cur/4
	if !fewDescriptors.Load() || below(most) {
		buf, err = mem.Memfd(size, mem.Options{Name: "anynpu rknn"})
		if err != nil && !errors.Is(err, unix.EMFILE) {
			return nil, -1, err
		}
		if err == nil {
			own, _, _ := buf.FD()
			if uint64(own) < most {
				return buf, int32(own), nil
			}
			buf.Release()
		}
	}
	if !fewDescriptors.Swap(true) {
		warn("memory has no file descriptor while the process has few left: fd is -1", "function", "rknn_create_mem", "limit",
			limit.Cur, "remedy", "raise ulimit -n, or destroy memory that is no longer needed")
	}
	buf, err = mem.Shareable(size, mem.Options{})
	return buf, -1, err
}

// below says whether the next descriptor's number will be below most.
func below(most uint64) bool {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		return false
	}
	unix.Close(fd)
	return uint64(fd) < most
}

// createMemFromFd describes size bytes of memory that stays the program's, from virt_addr + offset on. Without an
// address, the descriptor is mapped. Memory that lies in one made by rknn_create_mem keeps that alive.
func createMemFromFd(context uintptr, fd int32, virt unsafe.Pointer, size uint32, offset int32) (uintptr, error) {
	if err := aliveContext("ctx", context); err != nil {
		return 0, err
	}
	switch {
	case size == 0:
		return 0, invalid("size is 0: memory has at least 1 byte")
	case offset < 0:
		return 0, invalid("offset is %d: the bytes begin 0 or more behind virt_addr or the start of fd", offset)
	case virt == nil && fd < 0:
		return 0, invalid("fd is %d: with virt_addr NULL an open file descriptor is mapped", fd)
	}
	info := spec.TensorMem{Virt: uintptr(virt), FD: fd, Offset: offset, Size: size, Flags: memFromFD}
	if virt == nil {
		buf, err := mem.ImportFD(int(fd), int64(offset), int64(size), false)
		if err != nil {
			return 0, refuseFor(spec.ErrParam, err, "fd is %d, offset %d, size %d", fd, offset, size)
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
		return 0, invalid("size is 0: memory has at least 1 byte")
	case virt == nil:
		return 0, failed("phys_addr is %#x, virt_addr NULL, size %d: physical memory cannot be reached from this process: "+
			"give the address at which the program has mapped it, or use rknn_create_mem, or rknn_create_mem_from_fd with the "+
			"memory's descriptor", phys, size)
	}
	return describeMem(spec.TensorMem{Virt: uintptr(virt), Phys: phys, FD: -1, Size: size, Flags: memFromPhys})
}

// createMemFromMbBlk is refused: there is no media driver whose blocks could be taken.
func createMemFromMbBlk(_ *Context, block unsafe.Pointer, _ int32) (uintptr, error) {
	return 0, failed("mb_blk is %p: there is no media driver that has made it: use rknn_create_mem_from_fd with the "+
		"block's descriptor", block)
}

// destoryMem is destroyMem under the name of headers before 1.3.
func destoryMem(context uintptr, m *spec.TensorMem) error { return destroyMem(context, m) }

// destroyMem ends a memory of any context, alive or not (section 11). Contexts that have it bound find it gone at their
// next run.
func destroyMem(_ uintptr, m *spec.TensorMem) error {
	if !memories.remove(m) {
		return invalid("mem is %p: this is no memory of rknn_create_mem or rknn_create_mem_from_fd, or it was destroyed", m)
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
			"RKNN_MEMORY_SYNC_BIDIRECTIONAL (3)", mode)
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
		return invalid("mem is %p: this is no memory of rknn_create_mem or rknn_create_mem_from_fd, or it was destroyed", m)
	}
	if have := r.buf.Size(); have < int64(need) {
		return invalid("mem->size is %d: %s of RKNN_QUERY_MEM_SIZE is %d", have, what, need)
	}
	return nil
}

func addressOf(data []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(data))) }

// guarded calls f, which touches memory of the program: what says whose. Memory that has vanished is an error of the
// call.
func guarded(what string, f func() error) error {
	return io.Guarded(f, func(addr uintptr) error {
		return failed("%s cannot be used at address %#x: the program has unmapped or cut it", what, addr)
	})
}
