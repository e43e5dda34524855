package mem

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// extent is the part of a file that begins with a buffer's first byte. Two mappings of one file are one memory at two
// addresses; device and inode tell the file, whatever descriptors it was mapped by.
type extent struct {
	dev, ino uint64
	off      int64
}

// extentOf is the extent from the start of an open file, nil when the system does not tell.
func extentOf(fd int) *extent {
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil {
		return nil
	}
	return &extent{dev: st.Dev, ino: st.Ino}
}

// place returns what the bytes of b from off are in a file, ok false when they are in none.
func place(b Buffer, off int64) (at extent, ok bool) {
	for {
		own, isBuffer := b.(*buffer)
		if !isBuffer {
			return at, false
		}
		if own.parent == nil {
			e := own.at.Load()
			if e == nil {
				return at, false
			}
			at = *e
			at.off += off
			return at, true
		}
		off += own.off
		b = own.parent
	}
}

// Aliases reports whether n bytes of a from aOff and m bytes of b from bOff share a byte: by address, or as parts of
// one file that is mapped twice. Ranges must lie inside the buffers. Memory that the host cannot map is an alias of
// itself only.
func Aliases(a Buffer, aOff, n int64, b Buffer, bOff, m int64) bool {
	if n == 0 || m == 0 {
		return false
	}
	x, aErr := a.Map()
	y, bErr := b.Map()
	if aErr != nil || bErr != nil {
		return a == b && aOff < bOff+m && bOff < aOff+n
	}
	if Overlap(x[aOff:aOff+n], y[bOff:bOff+m]) {
		return true
	}
	p, ok := place(a, aOff)
	if !ok {
		return false
	}
	q, ok := place(b, bOff)
	return ok && p.dev == q.dev && p.ino == q.ino && p.off < q.off+m && q.off < p.off+n
}

// InFile reports whether b is known to be part of a file, so that its bytes may have other addresses too.
func InFile(b Buffer) bool {
	_, ok := place(b, 0)
	return ok
}

// BorrowMapped is Borrow for memory that the caller may have mapped from a file: Aliases knows its other mappings. It
// looks through the process's mappings, which takes microseconds to milliseconds; where they cannot be read it is
// Borrow.
func BorrowMapped(data []byte, free func()) Buffer {
	b := &buffer{data: data, fd: -1, free: free}
	if len(data) > 0 {
		b.at.Store(mappedAt(uintptr(unsafe.Pointer(unsafe.SliceData(data)))))
	}
	return newBuffer(b)
}

// OverlapMapped is Overlap that also knows the files behind both ranges, as BorrowMapped does.
func OverlapMapped(a, b []byte) bool {
	x, y := BorrowMapped(a, nil), BorrowMapped(b, nil)
	defer x.Release()
	defer y.Release()
	return Aliases(x, 0, int64(len(a)), y, 0, int64(len(b)))
}

// mappedAt finds the file that is mapped at an address, nil for none.
func mappedAt(addr uintptr) *extent {
	f, err := os.Open("/proc/self/maps")
	if err != nil {
		return nil
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		// 7f0c1000-7f0c3000 rw-s 00001000 00:01 1029 /memfd:shared (deleted)
		bounds, rest, _ := strings.Cut(lines.Text(), " ")
		first, last, _ := strings.Cut(bounds, "-")
		from, err := strconv.ParseUint(first, 16, 64)
		if err != nil || uint64(addr) < from {
			continue
		}
		to, err := strconv.ParseUint(last, 16, 64)
		if err != nil || uint64(addr) >= to {
			continue
		}
		var off int64
		var major, minor uint32
		var ino uint64
		if n, _ := fmt.Sscanf(rest, "%s %x %x:%x %d", new(string), &off, &major, &minor, &ino); n != 5 || ino == 0 {
			return nil
		}
		return &extent{dev: unix.Mkdev(major, minor), ino: ino, off: off + int64(uint64(addr)-from)}
	}
	return nil
}
