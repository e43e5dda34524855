package rknntest

import "encoding/binary"

// builder writes a FlatBuffer front to back: a table's fields come behind it, and the offsets to them are filled in as
// they are written.
type builder struct{ b []byte }

func (w *builder) align(n int) {
	for len(w.b)%n != 0 {
		w.b = append(w.b, 0)
	}
}

func (w *builder) u32(v uint32) { w.b = binary.LittleEndian.AppendUint32(w.b, v) }

// point makes the offset at position at lead to the end of the written bytes.
func (w *builder) point(at int) {
	w.align(4)
	binary.LittleEndian.PutUint32(w.b[at:], uint32(len(w.b)-at))
}

// table writes a vtable and a table with n fields. fields maps numbers of fields to functions that write them: a byte
// or 32 bits in the table itself, or whatever an offset leads to.
func (w *builder) table(at, n int, fields map[int]any) {
	w.align(4)
	vtable := len(w.b)
	size := 4 + 4*n
	w.b = binary.LittleEndian.AppendUint16(w.b, uint16(4+2*n))
	w.b = binary.LittleEndian.AppendUint16(w.b, uint16(size))
	for i := range n {
		off := 0
		if fields[i] != nil {
			off = 4 + 4*i
		}
		w.b = binary.LittleEndian.AppendUint16(w.b, uint16(off))
	}
	w.point(at)
	start := len(w.b)
	w.u32(uint32(start - vtable))
	w.b = append(w.b, make([]byte, 4*n)...)
	for i := range n {
		place := start + 4 + 4*i
		switch v := fields[i].(type) {
		case nil:
		case byte:
			w.b[place] = v
		case uint32:
			binary.LittleEndian.PutUint32(w.b[place:], v)
		case string:
			w.point(place)
			w.text(v)
		case []uint32:
			w.point(place)
			w.u32(uint32(len(v)))
			for _, x := range v {
				w.u32(x)
			}
		case []string:
			w.each(place, len(v), func(i, _ int) { w.text(v[i]) })
		case []func(w *builder, at int):
			w.each(place, len(v), func(i, at int) { v[i](w, at) })
		}
	}
}

func (w *builder) text(s string) {
	w.u32(uint32(len(s)))
	w.b = append(append(w.b, s...), 0)
	w.align(4)
}

// each writes a vector of offsets and what they lead to. put gets the position of its offset, which points at what it
// writes unless it writes a table, which points by itself.
func (w *builder) each(place, n int, put func(i, at int)) {
	w.point(place)
	w.u32(uint32(n))
	first := len(w.b)
	w.b = append(w.b, make([]byte, 4*n)...)
	for i := range n {
		w.point(first + 4*i)
		put(i, first+4*i)
	}
}
