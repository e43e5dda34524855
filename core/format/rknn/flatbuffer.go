package rknn

import (
	"math"
)

// table is a table of a FlatBuffer. The zero table has no fields. Offsets that leave the buffer make a field absent.
type table struct {
	buf    window
	at     int64 // of the table
	vtable int64
	fields int // entries of the vtable
	size   int64
}

// root returns the root table of a FlatBuffer with the identifier, ok false when it is not one.
func root(buf window, identifier string) (t table, ok bool) {
	if string(buf.bytes(4, 4)) != identifier {
		return t, false
	}
	return tableAt(buf, int64(buf.u32(0)))
}

// tableAt returns the table at an offset.
func tableAt(buf window, at int64) (t table, ok bool) {
	if at < 4 || !buf.inside(at, 4) {
		return t, false
	}
	vtable := at - int64(int32(buf.u32(at)))
	if !buf.inside(vtable, 4) {
		return t, false
	}
	length, size := int64(buf.u16(vtable)), int64(buf.u16(vtable+2))
	if length < 4 || !buf.inside(vtable, length) || size < 4 || !buf.inside(at, size) {
		return t, false
	}
	return table{buf, at, vtable, int((length - 4) / 2), size}, true
}

// field returns the offset of a field of width bytes, 0 when it is absent.
func (t table) field(i int, width int64) int64 {
	if i >= t.fields {
		return 0
	}
	off := int64(t.buf.u16(t.vtable + 4 + 2*int64(i)))
	if off < 4 || off+width > t.size {
		return 0
	}
	return t.at + off
}

// byte returns a field of one byte, 0 when it is absent.
func (t table) byte(i int) uint8 {
	if at := t.field(i, 1); at != 0 {
		return t.buf.u8(at)
	}
	return 0
}

// number returns a field of 32 bits.
func (t table) number(i int) uint32 {
	if at := t.field(i, 4); at != 0 {
		return t.buf.u32(at)
	}
	return 0
}

// follow returns where the offset in a field leads, 0 when it is absent.
func (t table) follow(i int) int64 {
	at := t.field(i, 4)
	if at == 0 {
		return 0
	}
	to := at + int64(t.buf.u32(at))
	if to == at || !t.buf.inside(to, 4) {
		return 0
	}
	return to
}

// text returns a string field of at most limit bytes; ok is false when it does not lie in the buffer or is longer.
func (t table) text(i int, limit int64) (s string, ok bool) {
	at := t.follow(i)
	if at == 0 {
		return "", t.field(i, 4) == 0
	}
	return textAt(t.buf, at, limit)
}

func textAt(buf window, at, limit int64) (string, bool) {
	n := int64(buf.u32(at))
	if n > limit || !buf.inside(at+4, n) {
		return "", false
	}
	return string(buf.bytes(at+4, n)), true
}

// elementBytes bounds the bytes of a vector's element in memory.
const elementBytes = 8

// vector is a vector of n elements from offset at.
type vector struct {
	buf window
	at  int64
	n   int64
}

// vector returns a vector field with elements of width bytes; ok is false when it does not lie in the buffer.
func (t table) vector(i int, width int64) (v vector, ok bool) {
	at := t.follow(i)
	if at == 0 {
		return v, t.field(i, 4) == 0
	}
	n := int64(t.buf.u32(at))
	if !t.buf.inside(at+4, n*width) || !t.buf.spend(elementBytes*n) {
		return v, false
	}
	return vector{t.buf, at + 4, n}, true
}

// table returns element i of a vector of tables.
func (v vector) table(i int64) (table, bool) {
	at := v.at + 4*i
	return tableAt(v.buf, at+int64(v.buf.u32(at)))
}

// ints returns the elements of a vector of 32-bit integers.
func (v vector) ints() []int64 {
	out := make([]int64, v.n)
	for i := range out {
		out[i] = int64(int32(v.buf.u32(v.at + 4*int64(i))))
	}
	return out
}

// floats returns the elements of a vector of float32.
func (v vector) floats() []float32 {
	out := make([]float32, v.n)
	for i := range out {
		out[i] = math.Float32frombits(v.buf.u32(v.at + 4*int64(i)))
	}
	return out
}
