package onnx

import (
	"io"
	"maps"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/anynpu/anynpu/core/fault"
)

// propsField is the number of metadata_props in ModelProto.
const propsField = 14

// maxEntry bounds the bytes of one entry of metadata_props that is looked at.
const maxEntry = 1 << 24

// span is a part of a file.
type span struct{ off, n int64 }

// EditMetadata writes the model of size bytes in r to w with other metadata_props: edits holds new values by key, nil
// for keys that are to go. Every other byte of the model is written as it is, in its place; an entry that changes stays
// where its first one was, new ones come last. Errors of the model are of kind fault.File; those of r and w are theirs.
func EditMetadata(w io.Writer, r io.ReaderAt, size int64, edits map[string]*string) error {
	left, done := maps.Clone(edits), map[string]bool{}
	write := func(key string) error {
		v := left[key]
		delete(left, key)
		if done[key] || v == nil {
			return nil
		}
		done[key] = true
		entry := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), key)
		entry = protowire.AppendString(protowire.AppendTag(entry, 2, protowire.BytesType), *v)
		_, err := w.Write(protowire.AppendBytes(protowire.AppendTag(nil, propsField, protowire.BytesType), entry))
		return err
	}
	kept := span{} // of the file, not yet written
	flush := func() error {
		if kept.n == 0 {
			return nil
		}
		n, err := io.Copy(w, io.NewSectionReader(r, kept.off, kept.n))
		if err == nil && n != kept.n {
			err = fault.New(fault.File, "the file became shorter while it was read")
		}
		return err
	}
	err := eachSpan(r, size, func(num protowire.Number, whole, value span) error {
		if num == propsField {
			key, err := entryKey(r, value)
			if err != nil {
				return err
			}
			if _, edited := edits[key]; edited {
				if err := flush(); err != nil {
					return err
				}
				kept = span{whole.off + whole.n, 0}
				return write(key)
			}
		}
		kept.n += whole.n
		return nil
	})
	if err == nil {
		err = flush()
	}
	for _, key := range slices.Sorted(maps.Keys(left)) {
		if err == nil {
			err = write(key)
		}
	}
	return err
}

// eachSpan calls f for the fields of the message in r: their numbers, where they lie as a whole, and where the value of
// a length-delimited one lies.
func eachSpan(r io.ReaderAt, size int64, f func(num protowire.Number, whole, value span) error) error {
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
		whole, value := span{off, int64(n)}, span{}
		var m int
		switch typ {
		case protowire.BytesType:
			var length uint64
			if length, m = protowire.ConsumeVarint(b[n:]); m >= 0 && length > uint64(size-off-int64(n+m)) {
				return fault.New(fault.File, "model: byte %d: field %d has %d bytes, more than the file", off, num, length)
			}
			value = span{off + int64(n+m), int64(length)}
		case protowire.StartGroupType, protowire.EndGroupType:
			return fault.New(fault.File, "model: byte %d: field %d is a group, which ONNX does not use", off, num)
		default:
			m = protowire.ConsumeFieldValue(num, typ, b[n:])
		}
		if m < 0 {
			return fault.New(fault.File, "model: byte %d: field %d is damaged: %v", off, num, protowire.ParseError(m))
		}
		whole.n += int64(m) + value.n
		if err := f(num, whole, value); err != nil {
			return err
		}
		off += whole.n
	}
	return nil
}

// entryKey returns the key of an entry of metadata_props.
func entryKey(r io.ReaderAt, value span) (string, error) {
	if value.n > maxEntry {
		return "", fault.New(fault.File, "metadata: an entry of %d bytes, at most %d are read", value.n, maxEntry)
	}
	b := make([]byte, value.n)
	if n, err := r.ReadAt(b, value.off); n < len(b) {
		return "", fault.As(fault.File, err, "byte %d", value.off)
	}
	key := ""
	err := eachField("metadata", b, func(f field) (err error) {
		if f.num == 1 {
			key, err = f.text("metadata", maxName)
		}
		return err
	})
	return key, err
}
