package kernel

// HalfMatrix is a matrix of binary16 that few rows of numbers are multiplied with: panels of 64 columns, the last one
// with zeros, whose rows follow one another.
type HalfMatrix struct{ Rows, Cols int }

// HalfPanel is how many columns a panel has.
const HalfPanel = 64

// Fast reports whether there are kernels.
func (m *HalfMatrix) Fast() bool { return fast.halfRows[0] != nil }

// Panels is the number of panels.
func (m *HalfMatrix) Panels() int { return ceilDiv(m.Cols, HalfPanel) }

// PanelLen is how many numbers a panel has.
func (m *HalfMatrix) PanelLen() int { return HalfPanel * m.Rows }

// Pack rounds panel p of a matrix that is [Rows, Cols], or transposed.
func (m *HalfMatrix) Pack(dst []uint16, w []float32, p int, transposed bool) {
	need("HalfMatrix.Pack", "dst", len(dst), m.PanelLen())
	need("HalfMatrix.Pack", "w", len(w), m.Rows*m.Cols)
	var line [HalfPanel]float32
	cols := min(HalfPanel, m.Cols-p*HalfPanel)
	for r := range m.Rows {
		if transposed {
			for c := range cols {
				line[c] = w[(p*HalfPanel+c)*m.Rows+r]
			}
		} else {
			copy(line[:cols], w[r*m.Cols+p*HalfPanel:])
		}
		FloatToHalf(dst[r*HalfPanel:][:HalfPanel], line[:])
	}
}

// Multiply makes y, rows that are ldy apart, the products of rows of x, ldx apart, with the columns of panel w. y has
// [HalfPanel] columns.
func (m *HalfMatrix) Multiply(y []float32, ldy int, x []float32, ldx, rows int, w []uint16) {
	need("HalfMatrix.Multiply", "y", len(y), extent(rows, HalfPanel, ldy))
	need("HalfMatrix.Multiply", "x", len(x), extent(rows, m.Rows, ldx))
	need("HalfMatrix.Multiply", "w", len(w), m.PanelLen())
	for r := 0; r < rows; {
		k := min(2, rows-r)
		for c := 0; c < HalfPanel; c += 4 * fast.lanes {
			fast.halfRows[k-1](&y[r*ldy+c], 4*ldy, &x[r*ldx], 4*ldx, &w[c], m.Rows)
		}
		r += k
	}
}
