package mem

import (
	"errors"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/fault"
)

const (
	hugePage  = 2 << 20
	guardByte = 0xA5
)

var guarded atomic.Bool

// SetGuard turns guard mode on or off for buffers made from now on. In guard mode host memory ends at a page that
// cannot be touched, so that an access behind it faults at once; up to 7 bytes in between, needed to keep 8-byte
// alignment, are checked when the buffer is freed and a change panics. A memfd starts after and ends before such a
// page.
func SetGuard(on bool) { guarded.Store(on) }

// Guarded reports whether guard mode is on.
func Guarded() bool { return guarded.Load() }

// Options govern an allocation.
type Options struct {
	Name  string // of a memfd, shown in /proc/self/maps; empty: "anynpu"
	Align int64  // power of two up to 2 MiB; 0: MinAlign. Guard mode aligns to 8 only
	Huge  bool   // try huge pages, silently fall back to small ones
}

func (o Options) check(size int64) (align int64, err error) {
	align = max(o.Align, MinAlign)
	if size < 0 {
		return 0, fault.New(fault.Argument, "buffer of %d bytes", size)
	}
	if o.Align < 0 || o.Align&(o.Align-1) != 0 || align > hugePage {
		return 0, fault.New(fault.Argument, "alignment %d is not a power of two up to %d", o.Align, hugePage)
	}
	if size > 1<<62 {
		return 0, fault.As(fault.Memory, ErrExhausted, "buffer of %d bytes", size)
	}
	return align, nil
}

// roundUp rounds n up to a multiple of the power of two to.
func roundUp(n, to int64) int64 { return (n + to - 1) &^ (to - 1) }

// Host returns size zeroed bytes of anonymous memory outside the Go heap. Kinds: fault.Argument (negative size, bad
// alignment), fault.Memory.
func Host(size int64, o Options) (Buffer, error) {
	align, err := o.check(size)
	if err != nil {
		return nil, err
	}
	if guarded.Load() {
		return guardedHost(size)
	}
	return promisedBuffer(size, func() (*buffer, error) { return host(size, align, o.Huge) })
}

func host(size, align int64, huge bool) (*buffer, error) {
	length := roundUp(max(size, 1), pageSize)
	if huge && size >= hugePage {
		n := roundUp(size, hugePage)
		p, err := mapMemory(n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_HUGETLB)
		if err == nil {
			return &buffer{data: bytesAt(p, 0, size), fd: -1, base: p, length: uintptr(n)}, nil
		}
		align = hugePage
	}
	if align > pageSize {
		length += align
	}
	p, err := mapMemory(length, unix.PROT_READ|unix.PROT_WRITE, 0)
	if err != nil {
		return nil, err
	}
	off := -int64(uintptr(p)) & (align - 1)
	if huge {
		_ = unix.Madvise(bytesAt(p, 0, length), unix.MADV_HUGEPAGE) // advice: a kernel without it keeps small pages
	}
	return &buffer{data: bytesAt(p, off, size), fd: -1, base: p, length: uintptr(length)}, nil
}

func guardedHost(size int64) (_ Buffer, err error) {
	if err := promise(size); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			takeBack(size)
		}
	}()
	body := roundUp(max(size, 1), pageSize)
	p, err := mapMemory(body+2*pageSize, unix.PROT_NONE, 0)
	if err != nil {
		return nil, err
	}
	if err := unix.Mprotect(bytesAt(p, pageSize, body), unix.PROT_READ|unix.PROT_WRITE); err != nil {
		_ = unix.MunmapPtr(p, uintptr(body+2*pageSize))
		return nil, fault.As(fault.Memory, err, "protect guard pages of %d bytes", size)
	}
	end := pageSize + body
	start := end - roundUp(size, 8)
	b := &buffer{data: bytesAt(p, start, size), fd: -1, base: p, length: uintptr(body + 2*pageSize),
		slack: bytesAt(p, start+size, end-start-size), promised: size}
	for i := range b.slack {
		b.slack[i] = guardByte
	}
	return newBuffer(b), nil
}

// checkSlack returns a message when the bytes behind the buffer were written.
func (b *buffer) checkSlack() string {
	for _, v := range b.slack {
		if v != guardByte {
			return "mem: bytes behind a buffer were written"
		}
	}
	return ""
}

// mapMemory maps length private bytes.
func mapMemory(length int64, prot, flags int) (unsafe.Pointer, error) {
	p, err := unix.MmapPtr(-1, 0, nil, uintptr(length), prot, unix.MAP_PRIVATE|unix.MAP_ANON|flags)
	if err != nil {
		return nil, fault.As(fault.Memory, errors.Join(ErrExhausted, err), "map %d bytes", length)
	}
	return p, nil
}

// bytesAt returns n bytes at p+off.
func bytesAt(p unsafe.Pointer, off, n int64) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(p, off)), n)
}
