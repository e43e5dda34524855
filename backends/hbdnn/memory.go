package hbdnn

import (
	"encoding/binary"
	"slices"
	"sort"
	"sync"
	"unsafe"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
)

// arguments are memory of C's for a function's arguments and results.
type arguments struct {
	buf  mem.Buffer
	data []byte
}

func newArguments(size int64) (*arguments, error) {
	buf, err := mem.Host(size, mem.Options{})
	if err != nil {
		return nil, err
	}
	data, err := buf.Map()
	return &arguments{buf, data}, err
}

func (a *arguments) at(off int) unsafe.Pointer { return unsafe.Pointer(&a.data[off]) }
func (a *arguments) word(off int) int32        { return int32(binary.NativeEndian.Uint32(a.data[off:])) }
func (a *arguments) setWord(off int, v int32)  { binary.NativeEndian.PutUint32(a.data[off:], uint32(v)) }
func (a *arguments) address(off int) uintptr {
	return uintptr(binary.NativeEndian.Uint64(a.data[off:]))
}
func (a *arguments) setAddress(off int, v uintptr) {
	binary.NativeEndian.PutUint64(a.data[off:], uint64(v))
}
func (a *arguments) memory(off int) *sysMem { return (*sysMem)(a.at(off)) }
func (a *arguments) release()               { a.buf.Release() }

// blocks are the memory of the driver's that is not freed, by address.
type blocks struct {
	mu   sync.Mutex
	list []sysMem
}

// of returns the memory of n bytes at an address, ok if it lies in a block.
func (b *blocks) of(at uintptr, n int64) (m sysMem, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := sort.Search(len(b.list), func(i int) bool { return b.list[i].virt > at }) - 1
	if i < 0 || at-b.list[i].virt > uintptr(b.list[i].size) || int64(b.list[i].size)-int64(at-b.list[i].virt) < n {
		return m, false
	}
	off := at - b.list[i].virt
	return sysMem{phys: b.list[i].phys + uint64(off), virt: at, size: uint32(n)}, true
}

func (b *blocks) add(m sysMem) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := sort.Search(len(b.list), func(i int) bool { return b.list[i].virt > m.virt })
	b.list = slices.Insert(b.list, i, m)
}

func (b *blocks) drop(m sysMem) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.list = slices.DeleteFunc(b.list, func(have sysMem) bool { return have.virt == m.virt })
}

// Alloc implements device.Device: memory of the driver's, which runs use as it is.
func (d *Device) Alloc(size int64) (mem.Buffer, error) {
	if err := d.Alive(); err != nil {
		return nil, err
	}
	words := d.driver.words()
	if size < 0 || size > 1<<31 {
		return nil, fault.As(fault.Memory, mem.ErrExhausted, "%s has no %d bytes", words.alloc, size)
	}
	a, err := newArguments(sizeMemory)
	if err != nil {
		return nil, err
	}
	code, err := d.driver.alloc(a.at(0), uint32(max(size, 1)))
	m := *a.memory(0)
	if err == nil && code == words.noBlock {
		err = fault.As(fault.Memory, mem.ErrExhausted, "%s: the driver has no %d bytes", words.alloc, size)
	}
	if err = refused(words.alloc, code, err); err == nil && (m.virt == 0 || int64(m.size) < max(size, 1)) {
		err = fault.New(fault.Device, "%s gives %d bytes at address %#x, want %d", words.alloc, m.size, m.virt, size)
		if m.virt != 0 {
			_, _ = d.driver.free(a.at(0)) // nothing is left to do with an error
		}
	}
	if err != nil {
		a.release()
		return nil, err
	}
	d.blocks.add(m)
	return mem.Borrow(unsafe.Slice((*byte)(driver.Pointer(m.virt)), size), func() {
		d.blocks.drop(m)
		if d.Life.Alive() == nil {
			_, _ = d.driver.free(a.at(0))
		}
		a.release()
	}), nil
}

// Own implements driver.Calls.
func (e *execution) Own(s *driver.Slot) (*driver.Memory, error) {
	b, err := e.prog.dev.Alloc(s.Form.(*port).room)
	if err != nil {
		return nil, err
	}
	data, err := b.Map()
	if err != nil {
		b.Release()
		return nil, err
	}
	return &driver.Memory{Bytes: data, Buf: b}, nil
}

// Take implements driver.Calls: a place in memory of the driver's.
func (e *execution) Take(s *driver.Slot, v mem.View) *driver.Memory {
	room := s.Form.(*port).room
	data, err := v.Buf.Map()
	if err != nil || int64(len(data))-v.Off < room {
		return nil
	}
	m, ok := e.prog.dev.blocks.of(uintptr(unsafe.Pointer(&data[v.Off])), room)
	if !ok || m.phys%16 != 0 {
		return nil
	}
	v.Buf.Retain()
	return &driver.Memory{Bytes: data[v.Off:][:room], Buf: v.Buf, Off: v.Off}
}
