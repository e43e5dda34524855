package kernel

import (
	"unsafe"

	"github.com/anynpu/anynpu/core/mem"
)

// Copy copies min(len(dst), len(src)) elements, which must not overlap, and returns how many.
func Copy[T any](dst, src []T) int {
	n := min(len(dst), len(src))
	if f := fast.copyBytes; f != nil && n >= copyLeast {
		const block = 1 << 18 // keeps one assembly call short
		d, s := mem.Bytes(dst[:n]), mem.Bytes(src[:n])
		if len(d) >= copyLeast {
			for len(d) > 0 {
				k := min(block, len(d))
				f(&d[0], &s[0], k)
				d, s = d[k:], s[k:]
			}
			return n
		}
	}
	return copy(dst[:n], src)
}

// copyLeast is the length in bytes from which on the processor's own loop is faster.
const copyLeast = 1024

// Repeat fills dst with copies of its first n elements.
func Repeat[T any](dst []T, n int) {
	const block = 16 << 10 // bytes that stay in the first-level cache
	size := int(unsafe.Sizeof(dst[0]))
	for at := n; at < len(dst); {
		k := at
		if k*size > block {
			k = block / size / n * n
			if k == 0 {
				k = n
			}
		}
		at += Copy(dst[at:min(len(dst), at+k)], dst[:k])
	}
}

// Merge lets elements of size bytes of a and b take turns in dst, which is as long as both.
func Merge(dst, a, b []byte, size int) {
	n := len(a)
	need("Merge", "dst", len(dst), 2*n)
	need("Merge", "b", len(b), n)
	done := 0
	if f := fast.merge[sizeOf(size)]; f != nil {
		done = inSteps(n, func(i, n int) { f(&dst[2*i], &a[i], &b[i], n) })
	}
	dst, a, b = dst[2*done:], a[done:], b[done:n]
	switch size {
	case 1:
		mergeEach(dst, a, b)
	case 2:
		mergeEach(mem.Elements[uint16](dst), mem.Elements[uint16](a), mem.Elements[uint16](b))
	case 4:
		mergeEach(mem.Elements[uint32](dst), mem.Elements[uint32](a), mem.Elements[uint32](b))
	default:
		mergeEach(mem.Elements[uint64](dst), mem.Elements[uint64](a), mem.Elements[uint64](b))
	}
}

func mergeEach[T any](dst, a, b []T) {
	b = b[:len(a)]
	for i := range a {
		d := dst[2*i : 2*i+2]
		d[0], d[1] = a[i], b[i]
	}
}

// Thin takes n elements of size bytes of src, step of them apart, from the first on.
func Thin(dst, src []byte, size, step, n int) {
	if n <= 0 {
		return
	}
	need("Thin", "dst", len(dst), n*size)
	need("Thin", "src", len(src), ((n-1)*step+1)*size)
	done := 0
	if from := size * step; from <= 8 && from > size && from&(from-1) == 0 {
		done = n - 1 // behind the last there may be none
		CastIntegers(dst, size, src, from, false, done)
	}
	switch size {
	case 1:
		thinEach(dst[:n], src, step, done)
	case 2:
		thinEach(mem.Elements[uint16](dst)[:n], mem.Elements[uint16](src), step, done)
	case 4:
		thinEach(mem.Elements[uint32](dst)[:n], mem.Elements[uint32](src), step, done)
	default:
		thinEach(mem.Elements[uint64](dst)[:n], mem.Elements[uint64](src), step, done)
	}
}

func thinEach[T any](dst, src []T, step, first int) {
	for i := first; i < len(dst); i++ {
		dst[i] = src[i*step]
	}
}

// Enlarge makes two rows of each row of cols elements of size bytes, in which each element is twice.
func Enlarge(dst, src []byte, size, cols, rows int) {
	n := cols * size
	need("Enlarge", "dst", len(dst), 4*n*rows)
	need("Enlarge", "src", len(src), n*rows)
	f := fast.enlarge[sizeOf(size)]
	if f == nil || n < 16 {
		for r := range rows {
			x, y := src[r*n:][:n], dst[4*n*r:][:4*n]
			Merge(y[:2*n], x, x, size)
			copy(y[2*n:], y[:2*n])
		}
		return
	}
	per := max(1, pairsBlock/n) // keeps one assembly call short
	for r := 0; r < rows; r += per {
		f(&dst[4*n*r], &src[n*r], n, min(per, rows-r))
	}
}
