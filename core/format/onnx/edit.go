package onnx

import (
	"io"
	"maps"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx/proto"
)

// propsField is the number of metadata_props in ModelProto.
const propsField = 14

// maxEntry bounds the bytes of one entry of metadata_props that is looked at.
const maxEntry = 1 << 24

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
	kept := proto.Span{} // of the file, not yet written
	flush := func() error {
		if kept.N == 0 {
			return nil
		}
		n, err := io.Copy(w, io.NewSectionReader(r, kept.Off, kept.N))
		if err == nil && n != kept.N {
			err = fault.New(fault.File, "the file became shorter while it was read")
		}
		return err
	}
	err := proto.EachSpan(r, size, func(num protowire.Number, whole, value proto.Span) error {
		if num == propsField {
			key, err := entryKey(r, value)
			if err != nil {
				return err
			}
			if _, edited := edits[key]; edited {
				if err := flush(); err != nil {
					return err
				}
				kept = proto.Span{Off: whole.Off + whole.N}
				return write(key)
			}
		}
		kept.N += whole.N
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

// entryKey returns the key of an entry of metadata_props.
func entryKey(r io.ReaderAt, value proto.Span) (string, error) {
	if value.N > maxEntry {
		return "", fault.New(fault.File, "metadata: an entry of %d bytes, at most %d are read", value.N, maxEntry)
	}
	b := make([]byte, value.N)
	if n, err := r.ReadAt(b, value.Off); n < len(b) {
		return "", fault.As(fault.File, err, "byte %d", value.Off)
	}
	key := ""
	err := proto.EachField("metadata", b, func(f proto.Field) (err error) {
		if f.Num == 1 {
			key, err = f.Text("metadata", proto.MaxName)
		}
		return err
	})
	return key, err
}
