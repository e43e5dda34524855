package ohnn

import (
	"sync"
	"unsafe"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/mem"
)

// memoryTable holds every OH_NN_Memory.
type memoryTable struct {
	mu      sync.Mutex
	records map[uintptr]*memoryRecord // by the struct's address
	structs boundary.Structs[Memory]
}

type memoryRecord struct {
	owner memoryOwner
	buf   mem.Buffer
	info  *Memory
}

// memoryOwner is the object that memory was allocated for; only there it can be freed.
type memoryOwner struct {
	executor *Executor
	index    uint32
	output   bool
}

var memories = memoryTable{records: map[uintptr]*memoryRecord{}}

// alloc returns the address of a new struct over length bytes of memory.
func (t *memoryTable) alloc(owner memoryOwner, length uint64) (uintptr, error) {
	if length == 0 || length > maxBufferSize {
		return 0, invalid("length: %d: want 1 to %d bytes [ohnn-length-bytes]", length, maxBufferSize)
	}
	buf, err := mem.Shareable(int64(length), mem.Options{})
	if err != nil {
		return 0, err
	}
	data, err := buf.Map()
	if err != nil {
		buf.Release()
		return 0, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	m := t.structs.Take()
	m.data, m.length = unsafe.Pointer(unsafe.SliceData(data)), uintptr(length)
	addr := uintptr(unsafe.Pointer(m))
	t.records[addr] = &memoryRecord{owner, buf, m}
	return addr, nil
}

// free ends the struct at addr if it belongs to owner; if not, it returns the owner, or the zero memoryOwner for none.
func (t *memoryTable) free(owner memoryOwner, addr uintptr) (memoryOwner, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r, ok := t.records[addr]
	if !ok {
		return memoryOwner{}, false
	}
	if r.owner != owner {
		return r.owner, false
	}
	delete(t.records, addr)
	t.structs.Return(r.info)
	r.buf.Release()
	return owner, true
}

// find returns the buffer whose bytes begin at data, with a reference for the caller; nil when there is none. Programs
// may copy the struct, so its own address says nothing.
func (t *memoryTable) find(data unsafe.Pointer) mem.Buffer {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range t.records {
		if r.info.data == data {
			r.buf.Retain()
			return r.buf
		}
	}
	return nil
}

// of counts the objects of an executor.
func (t *memoryTable) of(e *Executor) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := 0
	for _, r := range t.records {
		if r.owner.executor == e {
			n++
		}
	}
	return n
}
