package proto

import (
	"encoding/binary"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/anynpu/anynpu/core/fault"
)

// Field is one field of a message on the wire.
type Field struct {
	Num   protowire.Number
	Type  protowire.Type
	value uint64 // varint and fixed-size fields
	Bytes []byte // length-delimited fields: a view of the file
}

// EachField calls f for the fields of the message in b, in order. It stops at the first error; errors are of kind
// fault.File.
func EachField(what string, b []byte, f func(Field) error) error {
	for off := 0; off < len(b); {
		num, typ, n := protowire.ConsumeTag(b[off:])
		if n < 0 {
			return fault.New(fault.File, "%s: byte %d: damaged field tag: %v", what, off, protowire.ParseError(n))
		}
		fl := Field{Num: num, Type: typ}
		rest := b[off+n:]
		var m int
		switch typ {
		case protowire.VarintType:
			fl.value, m = protowire.ConsumeVarint(rest)
		case protowire.Fixed32Type:
			var v uint32
			v, m = protowire.ConsumeFixed32(rest)
			fl.value = uint64(v)
		case protowire.Fixed64Type:
			fl.value, m = protowire.ConsumeFixed64(rest)
		case protowire.BytesType:
			fl.Bytes, m = protowire.ConsumeBytes(rest)
		default:
			m = protowire.ConsumeFieldValue(num, typ, rest)
		}
		if m < 0 {
			return fault.New(fault.File, "%s: byte %d: field %d is damaged: %v", what, off, num, protowire.ParseError(m))
		}
		if err := f(fl); err != nil {
			return err
		}
		off += n + m
	}
	return nil
}

// want checks the wire type of a field that is read as t.
func (f Field) want(t protowire.Type, what string) error {
	if f.Type != t {
		return fault.New(fault.File, "%s: field %d has wire type %d, want %d", what, f.Num, f.Type, t)
	}
	return nil
}

// Text returns a string field, bounded by limit bytes.
func (f Field) Text(what string, limit int) (string, error) {
	if err := f.want(protowire.BytesType, what); err != nil {
		return "", err
	}
	if len(f.Bytes) > limit {
		return "", fault.New(fault.File, "%s: a string of %d bytes, at most %d are read", what, len(f.Bytes), limit)
	}
	return string(f.Bytes), nil
}

// AppendInts appends a repeated int64 or int32 field, packed or not.
func (f Field) AppendInts(dst []int64, what string) ([]int64, error) {
	if f.Type == protowire.VarintType {
		return append(dst, int64(f.value)), nil
	}
	if err := f.want(protowire.BytesType, what); err != nil {
		return nil, err
	}
	for b := f.Bytes; len(b) > 0; {
		v, n := protowire.ConsumeVarint(b)
		if n < 0 {
			return nil, fault.New(fault.File, "%s: packed field %d is damaged: %v", what, f.Num, protowire.ParseError(n))
		}
		dst = append(dst, int64(v))
		b = b[n:]
	}
	return dst, nil
}

// appendFloats appends a repeated float field, packed or not.
func (f Field) appendFloats(dst []float32, what string) ([]float32, error) {
	if f.Type == protowire.Fixed32Type {
		return append(dst, math.Float32frombits(uint32(f.value))), nil
	}
	if err := f.want(protowire.BytesType, what); err != nil {
		return nil, err
	}
	if len(f.Bytes)%4 != 0 {
		return nil, fault.New(fault.File, "%s: packed floats of %d bytes", what, len(f.Bytes))
	}
	for b := f.Bytes; len(b) > 0; b = b[4:] {
		dst = append(dst, math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}
	return dst, nil
}

// appendDoubles appends a repeated double field, packed or not.
func (f Field) appendDoubles(dst []float64, what string) ([]float64, error) {
	if f.Type == protowire.Fixed64Type {
		return append(dst, math.Float64frombits(f.value)), nil
	}
	if err := f.want(protowire.BytesType, what); err != nil {
		return nil, err
	}
	if len(f.Bytes)%8 != 0 {
		return nil, fault.New(fault.File, "%s: packed doubles of %d bytes", what, len(f.Bytes))
	}
	for b := f.Bytes; len(b) > 0; b = b[8:] {
		dst = append(dst, math.Float64frombits(binary.LittleEndian.Uint64(b)))
	}
	return dst, nil
}
