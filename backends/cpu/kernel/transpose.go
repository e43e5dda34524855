package kernel

// Transpose writes the transpose of the row-major matrix src [rows, cols]:
//
//	for r := range rows {
//		for c := range cols {
//			dst[c*ldd+r] = src[r*lds+c]
//		}
//	}
//
// Bits are copied unchanged. dst must not overlap src.
func Transpose(dst []float32, ldd int, src []float32, lds, rows, cols int) {
	if rows <= 0 || cols <= 0 {
		return
	}
	need("Transpose", "dst", len(dst), extent(cols, rows, ldd))
	need("Transpose", "src", len(src), extent(rows, cols, lds))
	if !transposeThin(dst, ldd, src, lds, rows, cols) {
		transpose32(dst, ldd, src, lds, rows, cols)
	}
}

// transpose32 is Transpose without checks: blocks of 64 source columns keep the
// destination lines in the first-level cache.
func transpose32(dst []float32, ldd int, src []float32, lds, rows, cols int) {
	const step = 64
	r8 := rows &^ 7
	for c := 0; c < cols; c += step {
		w := min(step, cols-c)
		w8 := w &^ 7
		if r8 > 0 && w8 > 0 {
			fast.transpose8(&dst[c*ldd], ldd, &src[c], lds, r8, w8)
		}
		if w8 < w {
			transposeScalar(dst[(c+w8)*ldd:], ldd, src[c+w8:], lds, r8, w-w8)
		}
		if r8 < rows {
			transposeScalar(dst[c*ldd+r8:], ldd, src[r8*lds+c:], lds, rows-r8, w)
		}
	}
}

func transposeScalar(dst []float32, ldd int, src []float32, lds, rows, cols int) {
	for r := range rows {
		for c, v := range src[r*lds:][:cols] {
			dst[c*ldd+r] = v
		}
	}
}
