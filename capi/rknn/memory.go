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

// memoryTable holds every rknn_tensor_mem. The structs carry a handle in priv_data, by which they are found and
// distinguished from a driver's: programs may copy them.
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

// forget ends a handle that stands in a struct. Calls that are given it as a context hold it while they look at its
// kind.
func forget(o handle.Object) {
	for !handle.Drop(o) {
		runtime.Gosched()
	}
}

// fewDescriptors is set when the log has said that memory has no descriptor any more.
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
		warn("memory has no file descriptor while the process has few left: fd is -1 "+
			"[rknn-memory-no-file]", "function", "rknn_create_mem", "limit",
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

func addressOf(data []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(data))) }

// guarded calls f, which touches memory of the program: what says whose. Memory that has vanished is an error of the
// call.
func guarded(what string, f func() error) error {
	return io.Guarded(f, func(addr uintptr) error {
		return failed("%s cannot be used at address %#x: the program has unmapped or cut it "+
			"[rknn-used-address-program]", what, addr)
	})
}
