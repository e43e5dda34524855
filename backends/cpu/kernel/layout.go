package kernel

import "unsafe"

// Interleave3 computes dst[3*i:] = a[i], b[i], c[i]. a, b and c have the same length.
func Interleave3(dst, a, b, c []float32) {
	need("Interleave3", "dst", len(dst), 3*len(a))
	need("Interleave3", "b", len(b), len(a))
	need("Interleave3", "c", len(c), len(a))
	inVectors(len(a),
		func(i, n int) { fast.interleave3(&dst[3*i], &a[i], &b[i], &c[i], n) },
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
		Copy(dst[:rows*cols], src)
		return
	}
	var one T
	size := int(unsafe.Sizeof(one))
	if apart := cols*size < 32 || cols*size >= copyLeast || fast.copyRows == nil; apart && ldd == cols && lds == 0 {
		Copy(dst[:cols], src) // one row again and again
		Repeat(dst[:rows*cols], cols)
		return
	}
	if n := cols * size; n >= 32 && n < 4*copyLeast && fast.copyRows != nil {
		for per := 4 * pairsBlock / n; rows > 0; rows -= per { // keeps one assembly call short
			k := min(per, rows)
			fast.copyRows((*byte)(unsafe.Pointer(&dst[0])), ldd*size, (*byte)(unsafe.Pointer(&src[0])), lds*size, n, k)
			if k == rows {
				return
			}
			dst, src = dst[k*ldd:], src[k*lds:]
		}
	}
	if cols*size >= copyLeast {
		for r := range rows {
			Copy(dst[r*ldd:][:cols], src[r*lds:])
		}
		return
	}
	for r := range rows {
		copy(dst[r*ldd:][:cols], src[r*lds:])
	}
}
