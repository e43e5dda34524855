package mem

import (
	"bytes"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/fault"
)

// pages belong to Shareable memory besides its bytes: whole pages, in a slab or a mapping of their own, that Share puts
// into a file.
type pages struct {
	name string
	data []byte // the bytes, without the rest of the last page
	fd   atomic.Int32
	slab *slab // nil: a mapping of its own
	slot uint32

	// Guarded by moves.mu.
	inUse  int  // runs between Begin and End
	wait   int  // callers of Share that wait for these runs or move the bytes
	moving bool // one of them moves the bytes
}

// moves keeps runs and Share apart.
var moves = struct {
	mu   sync.Mutex
	wake *sync.Cond
}{}

func init() { moves.wake = sync.NewCond(&moves.mu) }

// Shareable returns size zeroed bytes that begin at a page and have no file descriptor until Share is called. Forked
// children share them, as they share a file. In guard mode it is Memfd. Kinds: fault.Argument (negative size, bad
// alignment), fault.Memory.
func Shareable(size int64, o Options) (Buffer, error) {
	align, err := o.check(size)
	if err != nil {
		return nil, err
	}
	if align > pageSize {
		return nil, fault.New(fault.Argument, "alignment %d of shareable memory is larger than a page", align)
	}
	if guarded.Load() {
		return Memfd(size, o)
	}
	return promisedBuffer(size, func() (*buffer, error) { return unshared(size, o.Name) })
}

func unshared(size int64, name string) (*buffer, error) {
	b := &buffer{fd: -1, pages: &pages{name: name}}
	b.pages.fd.Store(-1)
	if size <= slotLimit {
		if s, slot, err := takeSlot(max(size, 1)); err == nil { // a single mapping may be had where a slab is not
			b.pages.slab, b.pages.slot = s, slot
			b.data = s.bytes(slot)[:size:max(size, 1)]
		}
	}
	if b.pages.slab == nil {
		length := roundUp(max(size, 1), pageSize)
		p, err := mapShared(length)
		if err != nil {
			return nil, err
		}
		b.base, b.length, b.data = p, uintptr(length), bytesAt(p, 0, length)[:size:max(size, 1)]
	}
	b.pages.data = b.data
	return b, nil
}

// Share returns the descriptor of a buffer whose first byte is the first of a file; it stays the buffer's. The first
// call for Shareable memory puts the bytes, as they are, into a sealed file of their own, of the buffer's size, at the
// same address; it waits for the runs that use them (Begin). Stores to them by others meanwhile can be lost. Kinds:
// fault.Memory (no descriptor, no room), fault.Unsupported (memory without a descriptor that is not Shareable).
func Share(b Buffer) (fd int, err error) {
	if fd, off, ok := b.FD(); ok && off == 0 {
		return fd, nil
	}
	own, ok := b.(*buffer)
	if !ok || own.pages == nil {
		return -1, fault.New(fault.Unsupported, "memory that cannot be put into a file")
	}
	p := own.pages
	moves.mu.Lock()
	defer moves.mu.Unlock()
	p.wait++
	for p.inUse > 0 || p.moving {
		moves.wake.Wait()
	}
	defer func() {
		p.wait--
		moves.wake.Broadcast()
	}()
	if fd := p.fd.Load(); fd >= 0 {
		return int(fd), nil
	}
	p.moving = true
	moves.mu.Unlock()
	if err = promise(own.Size()); err == nil { // for the moment in which the bytes are there twice
		fd, err = p.move()
		takeBack(own.Size())
	}
	moves.mu.Lock()
	p.moving = false
	if err != nil {
		return -1, err
	}
	own.at.Store(extentOf(fd))
	p.fd.Store(int32(fd))
	return fd, nil
}

// move makes a file of the bytes and maps it in their place.
func (p *pages) move() (fd int, err error) {
	size := max(int64(len(p.data)), 1)
	fd, err = sealedFile(p.name, size, 0)
	if err != nil {
		return -1, fault.As(fault.Memory, exhausted(err), "make a file of %d bytes", len(p.data))
	}
	at, length := unsafe.Pointer(unsafe.SliceData(p.data)), uintptr(roundUp(size, pageSize))
	if err = p.copyTo(fd); err == nil {
		old := p.second(at, length)
		if _, err = unix.MmapPtr(fd, 0, at, length, unix.PROT_READ|unix.PROT_WRITE,
			unix.MAP_SHARED|unix.MAP_FIXED); err == nil {
			dropSecond(old, length)
			return fd, nil
		}
		if old != nil {
			_ = unix.MunmapPtr(old, length)
		}
	}
	unix.Close(fd)
	return -1, fault.As(fault.Memory, exhausted(err), "put %d bytes into a file", len(p.data))
}

// copyTo writes the bytes to a file of zeros; what is zero already stays a hole.
func (p *pages) copyTo(fd int) error {
	var zeros [1 << 12]byte
	for off := 0; off < len(p.data); {
		part := p.data[off:min(off+len(zeros), len(p.data))]
		if bytes.Equal(part, zeros[:len(part)]) {
			off += len(part)
			continue
		}
		part = p.data[off:min(off+1<<18, len(p.data))]
		n, err := unix.Pwrite(fd, part, int64(off))
		switch {
		case err == unix.EINTR:
		case err != nil:
			return err
		case n == 0:
			return unix.EIO
		default:
			off += n
		}
	}
	return nil
}

// second maps pages of a slab at another address as well, so that they can be emptied once the file is in their place;
// nil where that is not to be had or not needed, as the pages of a mapping of its own go with it.
func (p *pages) second(at unsafe.Pointer, length uintptr) unsafe.Pointer {
	if p.slab == nil {
		return nil
	}
	const mayMove = 1 // MREMAP_MAYMOVE; an old length of 0 leaves the old mapping of shared memory as it is
	old, _, err := unix.Syscall6(unix.SYS_MREMAP, uintptr(at), 0, length, mayMove, 0, 0)
	if err != 0 {
		return nil // the pages stay in memory until the slab goes
	}
	return *(*unsafe.Pointer)(unsafe.Pointer(&old))
}

func dropSecond(old unsafe.Pointer, length uintptr) {
	if old != nil {
		_ = unix.Madvise(bytesAt(old, 0, int64(length)), unix.MADV_REMOVE) // else they stay until the slab goes
		_ = unix.MunmapPtr(old, length)
	}
}

// release gives the pages back; a mapping of its own is the buffer's to end.
func (p *pages) release() {
	fd := int(p.fd.Load())
	if p.slab != nil {
		p.slab.giveBack(p.slot, max(int64(len(p.data)), 1), fd >= 0)
	}
	if fd >= 0 {
		unix.Close(fd)
	}
}

// Begin keeps the bytes of the views' buffers from being put into files until End: a run has taken their addresses and
// writes there. It waits for moves that have begun. A goroutine that is between the two must neither call Begin nor
// Share.
func Begin(views ...[]View) {
	moves.mu.Lock()
	defer moves.mu.Unlock()
	for waited := true; waited; {
		waited = false
		eachUnshared(views, func(p *pages) { waited = waited || p.wait > 0 })
		if waited {
			moves.wake.Wait()
		}
	}
	eachUnshared(views, func(p *pages) { p.inUse++ })
}

// End ends Begin with the same views.
func End(views ...[]View) {
	moves.mu.Lock()
	defer moves.mu.Unlock()
	eachUnshared(views, func(p *pages) { p.inUse-- })
	moves.wake.Broadcast()
}

// eachUnshared calls f for memory that a call of Share would move. Between Begin and End that stays so.
func eachUnshared(views [][]View, f func(p *pages)) {
	for _, list := range views {
		for i := range list {
			b, ok := list[i].Buf.(*buffer)
			for ok && b.parent != nil {
				b, ok = b.parent.(*buffer)
			}
			if ok && b.pages != nil && b.pages.fd.Load() < 0 {
				f(b.pages)
			}
		}
	}
}
