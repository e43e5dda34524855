package mem

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/fault"
)

// MinAlign is the alignment in bytes of the first byte of every buffer that this package allocates, unless guard mode
// is on.
const MinAlign = 64

var (
	liveBuffers atomic.Int64
	liveBytes   atomic.Int64
)

// Live returns how many buffers made by this package are not freed yet, and their bytes: tests compare it before and
// after.
func Live() (buffers, bytes int64) { return liveBuffers.Load(), liveBytes.Load() }

// LiveCounters are the counters of Live by name, as package leak wants them.
var LiveCounters = map[string]func() int64{"buffers": liveBuffers.Load, "buffer bytes": liveBytes.Load}

// buffer is the Buffer of everything that the host can map.
type buffer struct {
	refs     atomic.Int64
	data     []byte         // the usable bytes
	fd       int            // own descriptor, or the file's, -1: none
	fdOff    int64          // offset of data in fd
	base     unsafe.Pointer // own mapping, nil: none
	length   uintptr
	promised int64                  // counted by promise
	slack    []byte                 // guard mode: the bytes between data and the next page boundary, filled with guardByte
	parent   Buffer                 // a sub-buffer's owner
	off      int64                  // of a sub-buffer in its parent
	pages    *pages                 // of Shareable memory
	file     *importedFile          // that the bytes are a part of
	window   *window                // of file, that the bytes lie in; nil: the mapping is its own
	at       atomic.Pointer[extent] // the part of a file that the bytes are, nil: none or unknown
	free     func()                 // a borrowed memory's end
}

// newBuffer counts b as live with one reference.
func newBuffer(b *buffer) *buffer {
	b.refs.Store(1)
	liveBuffers.Add(1)
	liveBytes.Add(int64(len(b.data)))
	return b
}

func (b *buffer) Size() int64 { return int64(len(b.data)) }

func (b *buffer) Map() ([]byte, error) { return b.data, nil }

func (b *buffer) FD() (int, int64, bool) {
	switch {
	case b.parent != nil:
		fd, base, ok := b.parent.FD()
		return fd, base + b.off, ok
	case b.pages != nil:
		fd := int(b.pages.fd.Load())
		return fd, 0, fd >= 0
	}
	return b.fd, b.fdOff, b.fd >= 0
}

func (b *buffer) Sync(_ Direction, off, n int64) error { return checkRange(off, n, b.Size()) }

func (b *buffer) Retain() {
	if b.refs.Add(1) <= 1 {
		panic("mem: a freed buffer was retained")
	}
}

func (b *buffer) Release() {
	switch n := b.refs.Add(-1); {
	case n > 0:
		return
	case n < 0:
		panic("mem: a buffer was released more often than retained")
	}
	liveBuffers.Add(-1)
	liveBytes.Add(-int64(len(b.data)))
	takeBack(b.promised)
	overrun := b.checkSlack()
	if b.pages != nil {
		b.pages.release()
	}
	if b.base != nil {
		if err := unix.MunmapPtr(b.base, b.length); err != nil {
			panic(fmt.Sprintf("mem: munmap of a mapping of ours: %v", err))
		}
	}
	switch {
	case b.file != nil:
		b.file.release(b.window)
	case b.fd >= 0:
		unix.Close(b.fd)
	}
	if b.parent != nil {
		b.parent.Release()
	}
	if b.free != nil {
		b.free()
	}
	if overrun != "" {
		panic(overrun)
	}
}

// checkRange tells whether n bytes from off lie inside size bytes.
func checkRange(off, n, size int64) error {
	if off < 0 || n < 0 || off > size || n > size-off {
		return fault.New(fault.Argument, "range of %d bytes at offset %d is outside a buffer of %d bytes", n, off, size)
	}
	return nil
}

// Borrow returns a buffer over memory that belongs to the caller, who keeps it valid until free is called (by the last
// Release, on that goroutine; may be nil). It never copies.
func Borrow(data []byte, free func()) Buffer {
	return newBuffer(&buffer{data: data, fd: -1, free: free})
}

// Sub returns the n bytes of b from off as a buffer of their own; it holds a reference to b. Kind fault.Argument when
// out of range. A part of an unmappable buffer is unmappable as well.
func Sub(b Buffer, off, n int64) (Buffer, error) {
	if err := checkRange(off, n, b.Size()); err != nil {
		return nil, err
	}
	data, err := b.Map()
	if err == ErrUnmappable {
		return newRemotePart(b, off, n)
	}
	if err != nil {
		return nil, err
	}
	s := &buffer{data: data[off : off+n : off+n], fd: -1, parent: b, off: off}
	b.Retain()
	return newBuffer(s), nil
}

// remotePart is a part of an unmappable buffer.
type remotePart struct {
	refs   atomic.Int64
	parent Buffer
	move   Transfer
	off, n int64
}

func newRemotePart(b Buffer, off, n int64) (Buffer, error) {
	move, ok := b.(Transfer)
	if !ok {
		return nil, fault.New(fault.Unsupported, "a part of memory that is neither mappable nor transferable")
	}
	p := &remotePart{parent: b, move: move, off: off, n: n}
	p.refs.Store(1)
	b.Retain()
	liveBuffers.Add(1)
	liveBytes.Add(n)
	return p, nil
}

func (p *remotePart) Size() int64            { return p.n }
func (p *remotePart) Map() ([]byte, error)   { return nil, ErrUnmappable }
func (p *remotePart) FD() (int, int64, bool) { return -1, 0, false }

func (p *remotePart) Sync(d Direction, off, n int64) error {
	if err := checkRange(off, n, p.n); err != nil {
		return err
	}
	return p.parent.Sync(d, p.off+off, n)
}

func (p *remotePart) CopyIn(off int64, src []byte) error {
	if err := checkRange(off, int64(len(src)), p.n); err != nil {
		return err
	}
	return p.move.CopyIn(p.off+off, src)
}

func (p *remotePart) CopyOut(dst []byte, off int64) error {
	if err := checkRange(off, int64(len(dst)), p.n); err != nil {
		return err
	}
	return p.move.CopyOut(dst, p.off+off)
}

func (p *remotePart) Retain() { p.refs.Add(1) }

func (p *remotePart) Release() {
	if p.refs.Add(-1) == 0 {
		liveBuffers.Add(-1)
		liveBytes.Add(-p.n)
		p.parent.Release()
	}
}
