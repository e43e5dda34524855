package kernel

import "unsafe"

// PanelCols is the number of columns of B that one packed panel holds.
const PanelCols = 32

// Aligned returns n zero values of type T whose first element is at a multiple
// of 64 bytes.
func Aligned[T any](n int) []T {
	size := int(unsafe.Sizeof(*new(T)))
	if n == 0 || size == 0 {
		return make([]T, n)
	}
	pad := (63 + size) / size
	s := make([]T, n+pad)
	for i := range pad {
		if uintptr(unsafe.Pointer(&s[i]))%64 == 0 {
			return s[i : i+n : i+n]
		}
	}
	return s[:n:n]
}

// panelWidth is the stored width of the panel that starts at column j of n.
func panelWidth(n, j int) int {
	if n-j <= PanelCols/2 {
		return PanelCols / 2
	}
	return PanelCols
}

// PackedLen is the number of float32 values in a packed [k, n] matrix.
func PackedLen(k, n int) int {
	if n == 0 {
		return 0
	}
	j := (n - 1) / PanelCols * PanelCols
	return k * (j + panelWidth(n, j))
}

// PackB packs the row-major matrix b [k, n] with row stride ldb into dst, the
// form that [Gemm] reads: panels of 32 columns one after another, each [k][32];
// the last panel is [k][16] when 16 columns or fewer remain. Missing columns
// are zero. The form is the same for every instruction set.
//
// dst holds PackedLen(k, n) values, b at least (k-1)*ldb+n.
func PackB(dst, b []float32, k, n, ldb int) { PackBPanels(dst, b, k, n, ldb, 0, Panels(n)) }

// Panels is the number of packed panels of a matrix with n columns.
func Panels(n int) int { return (n + PanelCols - 1) / PanelCols }

// PackBPanels is [PackB] for panels p0 <= p < p1 only, so that threads can share
// the work. dst and b are the whole matrices.
func PackBPanels(dst, b []float32, k, n, ldb, p0, p1 int) {
	packB(dst, b, k, n, ldb, p0, p1, 0, k)
}

// PackBRows is [PackB] for rows r0 <= r < r1 only. dst and b are the whole matrices.
func PackBRows(dst, b []float32, k, n, ldb, r0, r1 int) {
	packB(dst, b, k, n, ldb, 0, Panels(n), r0, r1)
}

func packB(dst, b []float32, k, n, ldb, p0, p1, r0, r1 int) {
	need("PackB", "dst", len(dst), PackedLen(k, n))
	need("PackB", "b", len(b), extent(k, n, ldb))
	if p0 >= p1 {
		return
	}
	for r := r0; r < r1; r++ { // rows outside, to read b in order
		src := b[r*ldb:]
		for p := p0; p < p1; p++ {
			j := p * PanelCols
			pw, w := panelWidth(n, j), min(PanelCols, n-j)
			row := dst[k*j+r*pw:][:pw]
			if w == PanelCols {
				*(*[PanelCols]float32)(row) = *(*[PanelCols]float32)(src[j:])
			} else {
				clear(row[copy(row, src[j:][:w]):])
			}
		}
	}
}

// PackBT packs b given transposed: b is row-major [n, k] with row stride ldb, as filters [out, in] are stored. The
// packed form equals [PackB]'s.
func PackBT(dst, b []float32, k, n, ldb int) { PackBTPanels(dst, b, k, n, ldb, 0, Panels(n)) }

// PackBTPanels is [PackBT] for panels p0 <= p < p1 only.
func PackBTPanels(dst, b []float32, k, n, ldb, p0, p1 int) {
	need("PackBT", "dst", len(dst), PackedLen(k, n))
	need("PackBT", "b", len(b), extent(n, k, ldb))
	for p := p0; p < p1; p++ {
		j := p * PanelCols
		pw, w := panelWidth(n, j), min(PanelCols, n-j)
		d := dst[k*j:][:k*pw]
		if w < pw {
			clear(d)
		}
		if k > 0 {
			transpose32(d, pw, b[j*ldb:], ldb, w, k)
		}
	}
}
