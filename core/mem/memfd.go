package mem

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/fault"
)

// Memfd returns size zeroed bytes that other processes can share through FD. The size is sealed: no process can shrink
// the file under a mapping. Kinds: fault.Argument (negative size, bad alignment), fault.Memory.
func Memfd(size int64, o Options) (Buffer, error) {
	align, err := o.check(size)
	if err != nil {
		return nil, err
	}
	if align > pageSize && !o.Huge {
		return nil, fault.New(fault.Argument, "alignment %d of shared memory is larger than a page", align)
	}
	return promisedBuffer(size, func() (*buffer, error) { return named(size, o) })
}

// promisedBuffer counts size bytes as promised and has make map them.
func promisedBuffer(size int64, make func() (*buffer, error)) (Buffer, error) {
	if err := promise(size); err != nil {
		return nil, err
	}
	b, err := make()
	if err != nil {
		takeBack(size)
		return nil, err
	}
	b.promised = size
	return newBuffer(b), nil
}

func named(size int64, o Options) (*buffer, error) {
	if o.Huge && size >= hugePage && !guarded.Load() {
		if b, err := memfd(o.Name, size, roundUp(size, hugePage), unix.MFD_HUGETLB); err == nil {
			return b, nil // creation succeeds without reserved huge pages, the mapping then fails
		}
	}
	return memfd(o.Name, size, max(size, 1), 0)
}

func memfd(name string, size, length int64, flags int) (*buffer, error) {
	fd, err := sealedFile(name, length, flags)
	if err != nil {
		return nil, fault.As(fault.Memory, exhausted(err), "create shared memory of %d bytes", size)
	}
	b, err := mapFD(fd, 0, size, roundUp(length, pageSize), unix.PROT_READ|unix.PROT_WRITE)
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	b.at.Store(extentOf(fd))
	return b, nil
}

// ImportFD maps size bytes of fd from offset, shared; offset need not be a multiple of the page size. The caller may
// close fd at once: the buffers of one file share a duplicate. readOnly maps for reading, as a descriptor opened so
// demands; the bytes must not be written then. A peer that shrinks an unsealed file makes access fault: only sealed
// memory is safe against a hostile peer. Kinds: fault.Argument (bad descriptor, not mappable, range outside the file),
// fault.Memory.
func ImportFD(fd int, offset, size int64, readOnly bool) (Buffer, error) {
	if offset < 0 || size < 0 || size > 1<<62 || offset > 1<<62 {
		return nil, fault.New(fault.Argument, "import %d bytes at offset %d", size, offset)
	}
	b, err := importFD(fd, offset, size, readOnly)
	if err != nil {
		return nil, fault.Wrap(err, "import descriptor %d", fd)
	}
	return newBuffer(b), nil
}

func importFD(fd int, offset, size int64, readOnly bool) (*buffer, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, fault.As(fault.Argument, err, "stat")
	}
	prot := unix.PROT_READ | unix.PROT_WRITE
	if readOnly {
		prot = unix.PROT_READ
	}
	lead := offset & (pageSize - 1)
	length := roundUp(max(lead+size, 1), pageSize)
	at := &extent{dev: st.Dev, ino: st.Ino, off: offset}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		// A dma-buf or character device does not always say its size, and refuses a mapping that is too long. Two descriptors
		// can differ.
		own, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			return nil, duplicateError(err)
		}
		b, err := mapFD(own, offset, size, length, prot)
		if err != nil {
			unix.Close(own)
			return nil, err
		}
		b.at.Store(at)
		return b, nil
	}
	if offset > st.Size || size > st.Size-offset {
		return nil, fault.New(fault.Argument, "%d bytes at offset %d of a file of %d bytes", size, offset, st.Size)
	}
	f, err := importFile(fd, &st)
	if err != nil {
		return nil, duplicateError(err)
	}
	if w := f.take(offset, size, st.Size, prot); w != nil {
		b := &buffer{data: bytesAt(w.base, offset-w.key.off, size), fd: f.fd, fdOff: offset, file: f, window: w}
		b.at.Store(at)
		return b, nil
	}
	b, err := mapFD(f.fd, offset, size, length, prot)
	if err != nil {
		f.release(nil)
		return nil, err
	}
	b.file = f
	b.at.Store(at)
	return b, nil
}

func duplicateError(err error) error {
	kind := fault.Argument
	if err == unix.EMFILE {
		kind = fault.Memory
	}
	return fault.As(kind, err, "duplicate")
}

// mapFD maps length bytes of fd from the page that holds offset; the buffer's size bytes start at offset. It takes fd
// over only when it succeeds.
func mapFD(fd int, offset, size, length int64, prot int) (*buffer, error) {
	lead := offset & (pageSize - 1)
	total, at := length, unsafe.Pointer(nil)
	flags := unix.MAP_SHARED
	guard := guarded.Load()
	if guard {
		total += 2 * pageSize
		p, err := mapMemory(total, unix.PROT_NONE, 0)
		if err != nil {
			return nil, err
		}
		at = p
		flags |= unix.MAP_FIXED
	}
	start := at
	if guard {
		start = unsafe.Add(at, pageSize)
	}
	p, err := unix.MmapPtr(fd, offset-lead, start, uintptr(length), prot, flags)
	if err != nil {
		if guard {
			_ = unix.MunmapPtr(at, uintptr(total))
		}
		kind := fault.Argument
		if err == unix.ENOMEM || err == unix.EAGAIN {
			kind = fault.Memory
		}
		return nil, fault.As(kind, exhausted(err), "map %d bytes at offset %d", size, offset)
	}
	b := &buffer{data: bytesAt(p, lead, size), fd: fd, fdOff: offset, base: p, length: uintptr(length)}
	if guard {
		b.base, b.length = at, uintptr(total)
	}
	return b, nil
}
