package mem

import (
	"errors"
	"math/bits"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/fault"
)

// A process may have tens of thousands of mappings and often no more than 1,024 descriptors, so small pieces of
// Shareable memory are slots of slabs: each slab is one shared anonymous mapping. A slot is a run of whole pages, so
// that it can be put into a file of its own later.
const (
	slotLimit = 1 << 20 // larger pieces are mappings of their own
	slabLeast = 1 << 20 // bytes of a slab
	slabSlots = 16      // of a slab at least
)

// slabs is the allocator: for each size of slot, a power of two in pages, the slabs that have a free one.
var slabs struct {
	mu   sync.Mutex
	free [bits.UintSize][]*slab
}

// slab is one mapping of equal slots. It is unmapped when the last slot in use is given back.
type slab struct {
	base  unsafe.Pointer
	size  int64    // of a slot
	class int      // of slots of that size
	index int      // in slabs.free, -1: no slot is free
	idle  []uint32 // slots to hand out; their bytes are zero
	used  int      // slots handed out
	next  uint32   // slots from here on were never handed out
	slots uint32
}

// takeSlot returns a zeroed slot of at least size bytes, 0 < size <= slotLimit.
func takeSlot(size int64) (*slab, uint32, error) {
	class := bits.Len64(uint64((size+pageSize-1)/pageSize - 1))
	slabs.mu.Lock()
	defer slabs.mu.Unlock()
	list := slabs.free[class]
	if len(list) == 0 {
		s, err := newSlab(class)
		if err != nil {
			return nil, 0, err
		}
		s.insert()
		list = slabs.free[class]
	}
	s := list[len(list)-1]
	slot := s.next
	if n := len(s.idle); n > 0 {
		slot = s.idle[n-1]
		s.idle = s.idle[:n-1]
	} else {
		s.next++
	}
	s.used++
	if len(s.idle) == 0 && s.next == s.slots {
		s.remove()
	}
	return s, slot, nil
}

func newSlab(class int) (*slab, error) {
	size := pageSize << class
	n := max(slabLeast, slabSlots*size)
	p, err := mapShared(n)
	if err != nil {
		return nil, err
	}
	return &slab{base: p, size: size, class: class, slots: uint32(n / size)}, nil
}

// insert and remove keep s in the list of slabs with a free slot. The caller holds slabs.mu.
func (s *slab) insert() {
	list := &slabs.free[s.class]
	s.index = len(*list)
	*list = append(*list, s)
}

func (s *slab) remove() {
	list := slabs.free[s.class]
	last := list[len(list)-1]
	list[s.index], last.index = last, s.index
	list[len(list)-1] = nil
	slabs.free[s.class] = list[:len(list)-1]
	s.index = -1
}

// bytes returns the memory of a slot.
func (s *slab) bytes(slot uint32) []byte { return bytesAt(s.base, int64(slot)*s.size, s.size) }

// giveBack ends the use of a slot, of which the first n bytes may have been written. One that was put into a file is
// not used again: what is there belongs to no slab, and another mapping in its place would be one more for as long as
// the slab lives.
func (s *slab) giveBack(slot uint32, n int64, moved bool) {
	slabs.mu.Lock()
	if s.used > 1 {
		slabs.mu.Unlock()
		s.empty(slot, n, moved)
		slabs.mu.Lock()
		if !moved {
			s.idle = append(s.idle, slot)
			if s.index < 0 {
				s.insert()
			}
		}
	}
	s.used--
	last := s.used == 0
	if last && s.index >= 0 {
		s.remove()
	}
	slabs.mu.Unlock()
	if last {
		if err := unix.MunmapPtr(s.base, uintptr(s.size*int64(s.slots))); err != nil {
			panic("mem: munmap of a slab: " + err.Error())
		}
	}
}

// empty gives the memory of a slot back to the system.
func (s *slab) empty(slot uint32, n int64, moved bool) {
	if moved {
		// Should the system refuse, the file stays mapped until the slab goes.
		_, _ = unix.MmapPtr(-1, 0, unsafe.Pointer(&s.bytes(slot)[0]), uintptr(s.size), unix.PROT_NONE,
			unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE|unix.MAP_FIXED)
		return
	}
	part := s.bytes(slot)[:roundUp(n, pageSize)]
	if unix.Madvise(part, unix.MADV_REMOVE) != nil {
		clear(part) // locked memory cannot be given back piece by piece
	}
}

// mapShared maps zeroed memory that a forked child shares, as it shares files. Pages are counted when they are touched.
func mapShared(length int64) (unsafe.Pointer, error) {
	p, err := unix.MmapPtr(-1, 0, nil, uintptr(length), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_SHARED|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return nil, fault.As(fault.Memory, errors.Join(ErrExhausted, err), "map %d bytes", length)
	}
	return p, nil
}
