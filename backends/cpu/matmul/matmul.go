// Package matmul multiplies two matrices of small element types that lie in memory in tiles, with quantization
// parameters, and stores the product rounded once. It is what APIs with a matrix product outside of graphs use.
//
// Sums of integers are exact; sums of real numbers are float32 over at most 1024 terms and float64 beyond.
// [Product.Reference] is the same in plain loops.
package matmul

import (
	"fmt"

	"github.com/anynpu/anynpu/core/tensor"
)

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
	i, _ := o.at(r, d)
	return i
}

// at is Index, and how many elements of the row follow each other from there.
func (o *Operand) at(r, d int) (index, run int) {
	columns, base := o.Columns, 0
	if o.Segment > 0 {
		first := d / o.Segment * o.Segment
		base, d, columns = first*o.Rows, d-first, min(o.Segment, columns-first)
	}
	in := d % o.Inner
	return base + (((r/o.Outer)*(columns/o.Inner)+d/o.Inner)*o.Outer+r%o.Outer)*o.Inner + in, o.Inner - in
}

// Product is C = A x B with A of M rows and K columns, C of M rows and N columns, and B given as its transpose: N rows
// and K columns.
//
// A is Float16, Int8 or Int4, B likewise. With a = A[m,k] - ZeroA, b = B[n,k] - ZeroB and s the scale of B that belongs
// to k and n:
//
//	C Int32, Int16               sum of a*b, saturated; scales have no part
//	C Int8                       clamp(rint(sum * ScaleA * s / ScaleC) + ZeroC), in float32 from left to right, ties to even, NaN gives ZeroC
//	C Float32, Float16, BFloat16 ScaleA * sum over groups of s * (sum of a*b in the group), rounded to nearest, ties to even
//
// With scales per group, C Int8 is clamp(rint(ScaleA * sum of s*sums / ScaleC) + ZeroC), the sum over groups in
// float64.
type Product struct {
	A, B, C Operand

	ScaleA, ScaleC float32
	ZeroA, ZeroC   int32
	ScaleB         Params[float32] // empty: 1
	ZeroB          Params[int32]   // empty: 0
	Group          int             // columns of B that share an entry of parameters per group; it divides K
}

// Params are quantization parameters of B: none, one, one per row n, or one per group g of columns and row n at g*N+n.
type Params[T any] []T

// at returns the parameter of column k and row n, otherwise when there is none.
func (p Params[T]) at(product *Product, k, n int, otherwise T) T {
	switch rows := product.B.Rows; {
	case len(p) == 0:
		return otherwise
	case len(p) == 1:
		return p[0]
	case len(p) == rows:
		return p[n]
	default:
		return p[k/product.Group*rows+n]
	}
}

// grouped reports whether scales or zero points change along the columns of B.
func (p *Product) grouped() bool { return len(p.ScaleB) > p.B.Rows || len(p.ZeroB) > p.B.Rows }

// group is the number of columns of B with the same parameters.
func (p *Product) group() int {
	if p.grouped() {
		return p.Group
	}
	return p.A.Columns
}

// check panics on sizes that do not fit each other: a caller's broken invariant.
func (p *Product) check() {
	m, n, k := p.A.Rows, p.B.Rows, p.A.Columns
	fits := p.B.Columns == k && p.C.Rows == m && p.C.Columns == n
	for _, o := range []*Operand{&p.A, &p.B, &p.C} {
		fits = fits && len(o.Data) >= o.Bytes()
	}
	for _, l := range []int{len(p.ScaleB), len(p.ZeroB)} {
		if l > n {
			fits = fits && p.Group > 0 && k%p.Group == 0 && l == k/p.Group*n
			continue
		}
		fits = fits && (l <= 1 || l == n)
	}
	if !fits {
		panic(fmt.Sprintf("matmul: sizes do not fit: A %dx%d in %d bytes, B %dx%d in %d, C %dx%d in %d, %d scales, %d zero "+
			"points, groups of %d",
			m, k, len(p.A.Data), n, p.B.Columns, len(p.B.Data), p.C.Rows, p.C.Columns, len(p.C.Data), len(p.ScaleB),
			len(p.ZeroB), p.Group))
	}
}
