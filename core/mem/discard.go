package mem

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Collapse asks for huge pages behind part, memory of a buffer of Host that has been written with small pages. With
// huge pages from the start, scattered writes would make a large buffer resident as a whole.
func Collapse(part []byte) {
	const madvCollapse = 25 // MADV_COLLAPSE of linux/mman.h, since Linux 6.1
	start := uintptr(unsafe.Pointer(unsafe.SliceData(part)))
	skip := int((start+hugePage-1)&^(hugePage-1) - start)
	if n := (len(part) - skip) &^ (hugePage - 1); n > 0 {
		_ = unix.Madvise(part[skip:skip+n], madvCollapse) // advice: when it is refused the pages stay small, nothing else
	}
}

// Discard gives the whole pages of part, a piece of a buffer made by Host, back to the system: a source that has been
// copied out need not stay in memory until the last Release. The bytes must not be read any more.
func Discard(part []byte) {
	page := uintptr(unix.Getpagesize())
	start := uintptr(unsafe.Pointer(unsafe.SliceData(part)))
	skip := int((start+page-1)&^(page-1) - start)
	if skip >= len(part) {
		return
	}
	if n := (len(part) - skip) &^ int(page-1); n > 0 {
		_ = unix.Madvise(part[skip:skip+n], unix.MADV_DONTNEED) // advice: when it is refused the pages stay, nothing else
	}
}
