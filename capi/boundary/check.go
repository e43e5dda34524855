package boundary

import (
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/fault"
)

const pageSize = 4096 // the smallest page of any supported host: probing more often than needed does no harm

var checkPointers = Checks("pointers")

// Checks says whether ANYNPU_CHECK, a comma-separated list, asks for a check.
func Checks(word string) bool { return hasWord(Getenv("ANYNPU_CHECK"), word) }

func hasWord(list, word string) bool {
	for item := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(item) == word {
			return true
		}
	}
	return false
}

// CheckRange reports a range of C memory that cannot be read, as fault.Argument. It looks only if ANYNPU_CHECK=pointers
// is set, and never faults. Behaviour calls it for pointers inside structs; the glue does for parameters.
func CheckRange(p unsafe.Pointer, n uint64) error {
	if !checkPointers || n == 0 {
		return nil
	}
	return probe(uintptr(p), n)
}

// Readable reports whether a range of C memory can be read. It always looks, and never faults.
func Readable(p unsafe.Pointer, n uint64) bool { return n == 0 || probe(uintptr(p), n) == nil }

// ReadableText returns a copy of the string at p, ok false where memory ends before the string does. It always looks,
// and never faults.
func ReadableText(p unsafe.Pointer) (s string, ok bool) {
	if p == nil || probeString(uintptr(p)) != nil {
		return "", false
	}
	s, err := CopyString(p)
	return s, err == nil
}

// probe reads one byte of every page of [p, p+n) through the kernel.
func probe(p uintptr, n uint64) error {
	var buf [256]byte
	var remote [256]unix.RemoteIovec
	last := p + uintptr(n) - 1
	if last < p {
		return fault.New(fault.Argument, "%#x: %d bytes do not fit into memory [argument-bytes-fit-memory]", p, n)
	}
	for at := p; ; {
		k := 0
		for k < len(remote) && at <= last && at >= p {
			remote[k] = unix.RemoteIovec{Base: at, Len: 1}
			k++
			at = at&^(pageSize-1) + pageSize
		}
		local := []unix.Iovec{{Base: &buf[0]}}
		local[0].SetLen(k)
		got, err := unix.ProcessVMReadv(os.Getpid(), local, remote[:k], 0)
		if err == unix.EFAULT || err == nil && got < k {
			return fault.New(fault.Argument, "%#x: %d bytes are not readable [argument-bytes-readable]", p, n)
		}
		if err != nil || at > last || at < p {
			return nil // forbidden by a sandbox, or done
		}
	}
}

// probeString checks that the string at p can be read up to its NUL.
func probeString(p uintptr) error {
	for at := p; ; {
		end := at&^(pageSize-1) + pageSize
		if err := probe(at, uint64(end-at)); err != nil {
			return fault.New(fault.Argument, "%#x: a string that ends in memory that is not readable "+
				"[argument-string-ends-memory]", p)
		}
		for _, b := range unsafe.Slice((*byte)(cPointer(at)), int(end-at)) {
			if b == 0 {
				return nil
			}
		}
		at = end
	}
}

// cPointer makes a pointer of an address of C memory.
func cPointer(addr uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&addr)) }
