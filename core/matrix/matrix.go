// Package matrix describes matrices in memory and their products: small element types, tiles, quantization parameters.
// APIs that multiply matrices outside of graphs describe a product with it, and a device computes it
// (device.MatrixMultiplier).
package matrix

import "github.com/anynpu/anynpu/core/tensor"

// Tiling says where the elements of a matrix of rows r and columns d lie: tiles of Outer rows by Inner columns, row by
// row inside a tile, tiles one after another along d and then along r. Outer = rows with Inner = columns is row-major,
// with Inner = 1 it is column-major. With Segment set, the columns are cut into parts of that many, each stored like a
// matrix of its own behind the one before.
type Tiling struct{ Outer, Inner, Segment int }

// Operand is a matrix in memory. Elements of four bits take half a byte each, the one with the lower index in the low
// bits.
type Operand struct {
	Type          tensor.DType
	Rows, Columns int
	Tiling
	Data []byte
}

// Bytes is the number of bytes that the operand takes.
func (o *Operand) Bytes() int { return (o.Rows*o.Columns*o.Type.Bits() + 7) / 8 }

// Index is the position of the element in row r and column d, in elements.
func (o *Operand) Index(r, d int) int {
	i, _ := o.At(r, d)
	return i
}

// At is Index, and how many elements of the row follow each other from there.
func (o *Operand) At(r, d int) (index, run int) {
	columns, base := o.Columns, 0
	if o.Segment > 0 {
		first := d / o.Segment * o.Segment
		base, d, columns = first*o.Rows, d-first, min(o.Segment, columns-first)
	}
	in := d % o.Inner
	return base + (((r/o.Outer)*(columns/o.Inner)+d/o.Inner)*o.Outer+r%o.Outer)*o.Inner + in, o.Inner - in
}

// Rearrange copies every element of from to its place in to, a matrix of the same type and sizes in another tiling. The
// matrices must not overlap.
func Rearrange(to, from *Operand) {
	switch {
	case to.Type == tensor.Int4:
		clear(to.Data[:to.Bytes()])
		eachElement(to, from, func(t, f int) { to.Data[t/2] |= from.Data[f/2] >> (f % 2 * 4) & 15 << (t % 2 * 4) })
	case to.Type.Bits() == 8:
		eachElement(to, from, func(t, f int) { to.Data[t] = from.Data[f] })
	default:
		size := to.Type.Bits() / 8
		eachElement(to, from, func(t, f int) { copy(to.Data[t*size:][:size], from.Data[f*size:]) })
	}
}

// eachElement calls f with the positions of every element in both.
func eachElement(to, from *Operand, f func(to, from int)) {
	for r := range to.Rows {
		for d := 0; d < to.Columns; d += to.Inner {
			t := to.Index(r, d)
			for k := range to.Inner {
				f(t+k, from.Index(r, d+k))
			}
		}
	}
}
