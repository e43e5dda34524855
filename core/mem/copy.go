package mem

import (
	"unsafe"

	"github.com/anynpu/anynpu/core/fault"
)

// Read fills dst with the bytes of b from off, through a mapping or the device's own transfer.
func Read(dst []byte, b Buffer, off int64) error {
	if err := checkRange(off, int64(len(dst)), b.Size()); err != nil {
		return err
	}
	data, err := b.Map()
	if err == nil {
		if err := b.Sync(FromDevice, off, int64(len(dst))); err != nil {
			return err
		}
		copy(dst, data[off:])
		return nil
	}
	if t, ok := b.(Transfer); ok && err == ErrUnmappable {
		return t.CopyOut(dst, off)
	}
	return fault.As(fault.Memory, err, "read %d bytes", len(dst))
}

// Write stores src in b at off, through a mapping or the device's own transfer.
func Write(b Buffer, off int64, src []byte) error {
	if err := checkRange(off, int64(len(src)), b.Size()); err != nil {
		return err
	}
	data, err := b.Map()
	if err == nil {
		copy(data[off:], src)
		return b.Sync(ToDevice, off, int64(len(src)))
	}
	if t, ok := b.(Transfer); ok && err == ErrUnmappable {
		return t.CopyIn(off, src)
	}
	return fault.As(fault.Memory, err, "write %d bytes", len(src))
}

// Copy copies n bytes between two buffers of any kind; the ranges must not overlap in one memory.
func Copy(dst Buffer, dstOff int64, src Buffer, srcOff, n int64) error {
	if err := checkRange(dstOff, n, dst.Size()); err != nil {
		return err
	}
	if err := checkRange(srcOff, n, src.Size()); err != nil {
		return err
	}
	if data, err := src.Map(); err == nil {
		if err := src.Sync(FromDevice, srcOff, n); err != nil {
			return err
		}
		return Write(dst, dstOff, data[srcOff:srcOff+n])
	}
	if data, err := dst.Map(); err == nil {
		if err := Read(data[dstOff:dstOff+n], src, srcOff); err != nil {
			return err
		}
		return dst.Sync(ToDevice, dstOff, n)
	}
	const chunk = 1 << 20
	tmp := make([]byte, min(n, chunk))
	for done := int64(0); done < n; {
		part := tmp[:min(n-done, chunk)]
		if err := Read(part, src, srcOff+done); err != nil {
			return err
		}
		if err := Write(dst, dstOff+done, part); err != nil {
			return err
		}
		done += int64(len(part))
	}
	return nil
}

// Overlap reports whether two ranges share a byte of address space. Ranges of buffers can be one memory at two
// addresses: see Aliases.
func Overlap(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	x, y := uintptr(unsafe.Pointer(unsafe.SliceData(a))), uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return x < y+uintptr(len(b)) && y < x+uintptr(len(a))
}
