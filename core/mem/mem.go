// Package mem is the memory that tensors live in: host memory, memfd, imported file descriptors, a device's own, and a
// caller's that is only borrowed. Host, Shareable, Memfd, ImportFD, Borrow, BorrowMapped and Sub make buffers; Read,
// Write and Copy move bytes between any two; Weights keeps the constants of a program. Memory made here lies outside
// the Go heap.
package mem

import (
	"errors"

	"github.com/anynpu/anynpu/core/tensor"
)

// Direction says which way Sync moves data.
type Direction uint8

// The directions of Sync; they may be combined.
const (
	ToDevice   Direction = 1 << iota // the host has written, the device will read
	FromDevice                       // the device has written, the host will read
)

// Buffer is a counted reference to a piece of memory. It starts with one reference; the last Release frees it. All
// methods are safe for concurrent use; the bytes are not guarded.
type Buffer interface {
	// Size returns the usable bytes.
	Size() int64
	// Map returns the Size bytes, valid until the last Release; ErrUnmappable for device-only memory, which then
	// implements Transfer.
	Map() ([]byte, error)
	// FD returns a file descriptor that stays the buffer's, and the offset of the first byte in it; ok is false when there
	// is none. That of Shareable memory is made by Share.
	FD() (fd int, offset int64, ok bool)
	// Sync makes n bytes from off visible to the other side; a no-op for coherent memory. Kind fault.Argument when out of
	// range.
	Sync(d Direction, off, n int64) error
	Retain()
	Release()
}

// Transfer is implemented by buffers whose memory only their device can touch: it moves the bytes. Ranges outside the
// buffer are errors of kind fault.Argument.
type Transfer interface {
	// CopyIn writes src at off.
	CopyIn(off int64, src []byte) error
	// CopyOut reads len(dst) bytes from off.
	CopyOut(dst []byte, off int64) error
}

// View is a tensor inside a buffer.
type View struct {
	Buf     Buffer
	Off     int64       // bytes from the start of Buf
	Type    tensor.Type // all sizes known
	Strides []int64     // in elements, one per dimension; nil: row-major without gaps
}

// Errors of their own meaning.
var (
	ErrUnmappable = errors.New("memory cannot be mapped by the host") // Buffer.Map of device-only memory
	ErrTooSmall   = errors.New("it is too small")                     // in the chain of View's error of kind fault.Memory
)
