package handle

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/fault"
)

const (
	granule   = 16 // distance of two handle values; the four low bits of a handle are zero
	indexBits = 20 // slots in the table: 1 Mi
	indexMask = 1<<indexBits - 1
)

// tagBase is where handle values start when no window can be reserved. No address of a program lies there on amd64 or
// arm64 (it is not canonical), so it stays true that a value never equals another object's address and that reading
// through it faults.
const tagBase = uintptr(0x4e50_0000_0000_0000)

// A window is the range of values that handles are taken from: granule x (generation | index) above base.
type window struct {
	base    uintptr
	size    uintptr
	genMask uint32
	mapped  bool
}

var win = reserve()

// reserve takes the largest of the offered windows that the system grants. The pages cannot be read, written or
// executed and cost no memory. Where the address space is limited (ulimit -v) a window would eat the host's share, so
// none is taken.
func reserve() window {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &limit); err == nil && limit.Cur == unix.RLIM_INFINITY {
		for _, size := range []uintptr{64 << 30, 4 << 30} {
			p, err := unix.MmapPtr(-1, 0, nil, size, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
			if err == nil {
				nameRange(uintptr(p), size)
				return newWindow(uintptr(p), size, true)
			}
		}
	}
	return newWindow(tagBase, 64<<30, false)
}

func newWindow(base, size uintptr, mapped bool) window {
	return window{base: base, size: size, genMask: uint32(size/granule>>indexBits) - 1, mapped: mapped}
}

// nameRange makes the window recognizable in /proc/PID/maps and in crash notes; kernels that cannot do it are left
// alone.
func nameRange(base, size uintptr) {
	name := append([]byte("anynpu handles"), 0)
	_ = unix.Prctl(unix.PR_SET_VMA, unix.PR_SET_VMA_ANON_NAME, base, size, uintptr(unsafe.Pointer(&name[0])))
}

func (w window) contains(h uintptr) bool { return h-w.base < w.size }

func (w window) encode(index, gen uint32) uintptr {
	return w.base + granule*(uintptr(gen)<<indexBits|uintptr(index))
}

func (w window) decode(h uintptr) (index, gen uint32) {
	n := uint32((h - w.base) / granule)
	return n & indexMask, n >> indexBits
}

// LetRead lets programs read through handles, which gives zeros; so do objects of a library whose handles are pointers,
// as far as a program can expect anything there. Nothing can be written. Where no address space could be reserved,
// reading faults as before.
func LetRead() error { return win.letRead() }

func (w window) letRead() error {
	if !w.mapped {
		return nil
	}
	_, _, errno := unix.Syscall(unix.SYS_MPROTECT, w.base, w.size, unix.PROT_READ)
	if errno != 0 {
		return fault.New(fault.Memory, "mprotect of %d bytes: %v [handle-mprotect-bytes]", w.size, errno)
	}
	return nil
}

// Window returns the range that every handle of this process lies in, and whether it is reserved address space
// (otherwise a range of values that are no addresses at all).
func Window() (base, size uintptr, mapped bool) { return win.base, win.size, win.mapped }
