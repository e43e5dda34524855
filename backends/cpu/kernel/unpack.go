package kernel

// UnpackB is the inverse of [PackB]: it writes the row-major matrix b [k, n] with
// row stride ldb that src was packed from, bit for bit.
func UnpackB(b, src []float32, k, n, ldb int) {
	need("UnpackB", "b", len(b), extent(k, n, ldb))
	need("UnpackB", "src", len(src), PackedLen(k, n))
	for j := 0; j < n; j += PanelCols {
		pw, w := panelWidth(n, j), min(PanelCols, n-j)
		for r := range k {
			copy(b[r*ldb+j:][:w], src[k*j+r*pw:])
		}
	}
}

// UnpackBT is the inverse of [PackBT]: it writes b, row-major [n, k] with row
// stride ldb, bit for bit.
func UnpackBT(b, src []float32, k, n, ldb int) {
	need("UnpackBT", "b", len(b), extent(n, k, ldb))
	need("UnpackBT", "src", len(src), PackedLen(k, n))
	for j := 0; j < n; j += PanelCols {
		pw, w := panelWidth(n, j), min(PanelCols, n-j)
		Transpose(b[j*ldb:], ldb, src[k*j:][:k*pw], pw, k, w)
	}
}

// ScalePacked multiplies column j of a packed [k, n] matrix by scale[j], in panels
// p0 <= p < p1 and rows r0 <= r < r1.
func ScalePacked(packed, scale []float32, k, n, p0, p1, r0, r1 int) {
	need("ScalePacked", "packed", len(packed), PackedLen(k, n))
	need("ScalePacked", "scale", len(scale), n)
	for p := p0; p < p1; p++ {
		j := p * PanelCols
		pw, w := panelWidth(n, j), min(PanelCols, n-j)
		for r := r0; r < r1; r++ {
			row := packed[k*j+r*pw:][:w]
			for c, s := range scale[j : j+w] {
				row[c] *= s
			}
		}
	}
}
