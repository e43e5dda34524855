package kernel

import (
	"math"
	"testing"
)

func TestHalfMatrix_multiply(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		for i := range 8 {
			depth, transposed := []int{1, 3, 4, 77}[i%4], i >= 4
			m := HalfMatrix{Rows: depth, Cols: 130}
			if !m.Fast() {
				continue
			}
			const rows = 3
			h, w := halfSlice(Binary16, 3, m.Rows*m.Cols)
			for i := range w {
				if w[i]-w[i] != 0 {
					w[i], h[i] = 0.5, floatToHalf(0.5)
				}
			}
			x := randSlice(4, rows*m.Rows)
			panel := make([]uint16, m.PanelLen())
			for p := range m.Panels() {
				m.Pack(panel, w, p, transposed)
				out := newGuarded(rows*HalfPanel, p)
				m.Multiply(out.data, HalfPanel, x, m.Rows, rows, panel)
				out.check(t, "Multiply")
				for i, got := range out.data {
					r, c := i/HalfPanel, p*HalfPanel+i%HalfPanel
					want, size := 0.0, 0.0
					for k := range m.Rows {
						at := k*m.Cols + c
						if transposed {
							at = c*m.Rows + k
						}
						if c < m.Cols {
							v := float64(x[r*m.Rows+k]) * float64(halfToFloat(h[at]))
							want, size = want+v, size+math.Abs(v)
						}
					}
					if !(math.Abs(float64(got)-want) <= 1e-6*size) {
						t.Fatalf("row %d, column %d: got %v, want %v", r, c, got, want)
					}
				}
			}
		}
	})
}
