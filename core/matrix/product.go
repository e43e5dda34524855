package matrix

import "fmt"

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
// float64. Sums of integers are exact; sums of real numbers are float32 over at most 1024 terms and float64 beyond.
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

// ScaleAt returns the scale of B in column k and row n.
func (p *Product) ScaleAt(k, n int) float32 { return at(p, p.ScaleB, k, n, 1) }

// ZeroAt returns the zero point of B in column k and row n.
func (p *Product) ZeroAt(k, n int) int32 { return at(p, p.ZeroB, k, n, 0) }

// at returns the parameter of column k and row n, otherwise when there is none.
func at[T any](p *Product, params Params[T], k, n int, otherwise T) T {
	switch rows := p.B.Rows; {
	case len(params) == 0:
		return otherwise
	case len(params) == 1:
		return params[0]
	case len(params) == rows:
		return params[n]
	default:
		return params[k/p.Group*rows+n]
	}
}

// Grouped reports whether scales or zero points change along the columns of B.
func (p *Product) Grouped() bool { return len(p.ScaleB) > p.B.Rows || len(p.ZeroB) > p.B.Rows }

// GroupSize is the number of columns of B with the same parameters.
func (p *Product) GroupSize() int {
	if p.Grouped() {
		return p.Group
	}
	return p.A.Columns
}

// Check panics on sizes that do not fit each other: a caller's broken invariant.
func (p *Product) Check() {
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
		panic(fmt.Sprintf("matrix: sizes do not fit: A %dx%d in %d bytes, B %dx%d in %d, C %dx%d in %d, %d scales, %d zero "+
			"points, groups of %d",
			m, k, len(p.A.Data), n, p.B.Columns, len(p.B.Data), p.C.Rows, p.C.Columns, len(p.C.Data), len(p.ScaleB),
			len(p.ZeroB), p.Group))
	}
}
