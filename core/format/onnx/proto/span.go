package proto

import (
	"io"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/anynpu/anynpu/core/fault"
)

// Span is a part of a file.
type Span struct{ Off, N int64 }

// EachSpan calls f for the fields of the message in r: their numbers, where they lie as a whole, and where the value of
// a length-delimited one lies.
func EachSpan(r io.ReaderAt, size int64, f func(num protowire.Number, whole, value Span) error) error {
	head := make([]byte, 2*10) // a tag and a length or number
	for off := int64(0); off < size; {
		b := head[:min(int64(len(head)), size-off)]
		if n, err := r.ReadAt(b, off); n < len(b) {
			return fault.As(fault.File, err, "byte %d", off)
		}
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return fault.New(fault.File, "model: byte %d: damaged field tag: %v", off, protowire.ParseError(n))
		}
		whole, value := Span{off, int64(n)}, Span{}
		var m int
		switch typ {
		case protowire.BytesType:
			var length uint64
			if length, m = protowire.ConsumeVarint(b[n:]); m >= 0 && length > uint64(size-off-int64(n+m)) {
				return fault.New(fault.File, "model: byte %d: field %d has %d bytes, more than the file", off, num, length)
			}
			value = Span{off + int64(n+m), int64(length)}
		case protowire.StartGroupType, protowire.EndGroupType:
			return fault.New(fault.File, "model: byte %d: field %d is a group, which ONNX does not use", off, num)
		default:
			m = protowire.ConsumeFieldValue(num, typ, b[n:])
		}
		if m < 0 {
			return fault.New(fault.File, "model: byte %d: field %d is damaged: %v", off, num, protowire.ParseError(m))
		}
		whole.N += int64(m) + value.N
		if err := f(num, whole, value); err != nil {
			return err
		}
		off += whole.N
	}
	return nil
}
