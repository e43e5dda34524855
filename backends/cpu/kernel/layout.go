package kernel

import (
	"fmt"
	"unsafe"
)

var interleave3K = interleave3Generic

// Interleave turns c planes of n values into n positions of c values, the entry
// from a channels-first image: dst[i*c+j] = src[j*n+i].
func Interleave(dst, src []float32, c, n int) {
	need("Interleave", "dst", len(dst), c*n)
	need("Interleave", "src", len(src), c*n)
	if c != 3 {
		Transpose(dst, c, src, n, c, n)
		return
	}
	interleaveThree(dst, src[:n], src[n:2*n], src[2*n:3*n])
}

func interleaveThree(dst, a, b, c []float32) {
	inVectors(len(a),
		func(i, n int) { interleave3K(&dst[3*i], &a[i], &b[i], &c[i], n) },
		func(i, n int) { interleave3Generic(&dst[3*i], &a[i], &b[i], &c[i], n) })
}

func interleave3Generic(dst, a, b, c *float32, n int) {
	d, y, z := unsafe.Slice(dst, 3*n), unsafe.Slice(b, n), unsafe.Slice(c, n)
	for i, x := range unsafe.Slice(a, n) {
		d[3*i], d[3*i+1], d[3*i+2] = x, y[i], z[i]
	}
}

// CopyRows copies a strided matrix: dst[r*ldd+c] = src[r*lds+c]. It is the copy
// behind concat, split, slice and pad along the channels.
func CopyRows[T any](dst []T, ldd int, src []T, lds, rows, cols int) {
	if rows <= 0 || cols <= 0 {
		return
	}
	need("CopyRows", "dst", len(dst), extent(rows, cols, ldd))
	need("CopyRows", "src", len(src), extent(rows, cols, lds))
	if ldd == cols && lds == cols {
		copy(dst[:rows*cols], src)
		return
	}
	for r := range rows {
		copy(dst[r*ldd:][:cols], src[r*lds:])
	}
}

// GatherRows copies row index[i] of src [rows, cols] to row i of dst. A negative
// index counts from the end; one outside [-rows, rows) is an error and leaves the
// rows from there on unwritten.
func GatherRows[T any](dst, src []T, index []int64, rows, cols int) error {
	need("GatherRows", "dst", len(dst), len(index)*cols)
	need("GatherRows", "src", len(src), rows*cols)
	for i, x := range index {
		if x < 0 {
			x += int64(rows)
		}
		if x < 0 || x >= int64(rows) {
			return fmt.Errorf("gather: index %d: want -%d to %d, got %d", i, rows, rows-1, index[i])
		}
		copy(dst[i*cols:][:cols], src[int(x)*cols:])
	}
	return nil
}
