package kernel

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAffine_againstFloat64(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		for _, n := range append(lengths(), 2*affineBlock+3) {
			x, y := newGuarded(n, n%16), newGuarded(n, n%7)
			copy(x.data, randSlice(uint64(n), n))
			Affine(y.data, x.data, 0.25, 3, -0.5)
			y.check(t, "Affine")
			for i, v := range x.data {
				require.InDelta(t, (float64(v)-0.25)*3-0.5, y.data[i], 1e-6, "%d of %d", i, n)
			}
			Affine(x.data, x.data, 0.25, 3, -0.5)
			require.Equal(t, y.data, x.data, "in place")
		}
	})
}

func TestDot_againstFloat64(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		for _, n := range append(lengths(), 2*binaryBlock+5) {
			a, b := newGuarded(n, n%16), newGuarded(n, n%5)
			copy(a.data, randSlice(uint64(n), n))
			copy(b.data, randSlice(uint64(n+1), n))
			want := 0.0
			for i, v := range a.data {
				want += float64(v) * float64(b.data[i])
			}
			require.InDelta(t, want, Dot(a.data, b.data), 1e-6*(1+math.Sqrt(float64(n))), "%d", n)
		}
	})
}

func TestAddRows_everyWidth(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		for n := 1; n < 40; n++ {
			for _, rows := range []int{1, 2, 5} {
				ldd, lds := n+n%4, n+n%3
				y, x := newGuarded((rows-1)*ldd+n, n%16), newGuarded((rows-1)*lds+n, 3)
				copy(y.data, randSlice(1, len(y.data)))
				copy(x.data, randSlice(2, len(x.data)))
				want := append([]float32(nil), y.data...)
				for r := range rows {
					for i := range n {
						want[r*ldd+i] += x.data[r*lds+i]
					}
				}
				AddRows(y.data, ldd, x.data, lds, n, rows)
				y.check(t, "AddRows")
				require.Equal(t, want, y.data, "%d rows of %d", rows, n)
			}
		}
		y := []float32{1}
		AddRows(y, 1, nil, 1, 0, 3)
		require.Equal(t, []float32{1}, y)
	})
}

func TestRotate_everyWidth(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		for n := 1; n < 40; n++ {
			const rows = 3
			ld := 2*n + n%4
			x, y := newGuarded((rows-1)*ld+2*n, n%16), newGuarded((rows-1)*ld+2*n, 5)
			copy(x.data, randSlice(uint64(n), len(x.data)))
			clear(y.data)
			cos, sin := make([]float32, rows*n), make([]float32, rows*n)
			for i := range cos {
				s, c := math.Sincos(float64(i))
				cos[i], sin[i] = float32(c), float32(s)
			}
			Rotate(y.data, x.data, ld, cos, sin, n, rows)
			y.check(t, "Rotate")
			for r := range rows {
				for i := range n {
					a, b := float64(x.data[r*ld+i]), float64(x.data[r*ld+n+i])
					c, s := float64(cos[r*n+i]), float64(sin[r*n+i])
					require.InDelta(t, a*c-b*s, y.data[r*ld+i], 1e-6, "first %d of %d", i, n)
					require.InDelta(t, a*s+b*c, y.data[r*ld+n+i], 1e-6, "second %d of %d", i, n)
				}
				for i := r*ld + 2*n; i < min(len(y.data), (r+1)*ld); i++ {
					require.Zero(t, y.data[i], "between the rows")
				}
			}
			again := append([]float32(nil), y.data...)
			Rotate(x.data, x.data, ld, cos, sin, n, rows)
			for r := range rows {
				require.Equal(t, again[r*ld:][:2*n], x.data[r*ld:][:2*n], "in place")
			}
		}
	})
}

func TestDots_everySize(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		for _, n := range []int{0, 1, 3, 16, 31, 64, 65, 197} {
			for rows := range 10 {
				ld := n + rows%3
				x, w := randSlice(1, n), randSlice(2, max(0, rows-1)*ld+n)
				out := newGuarded(rows, rows)
				Dots(out.data, x, w, ld)
				out.check(t, "Dots")
				for r, got := range out.data {
					want := 0.0
					for k, v := range x {
						want += float64(v) * float64(w[r*ld+k])
					}
					if !(math.Abs(float64(got)-want) <= 1e-5*float64(1+n)) {
						t.Fatalf("%d rows of %d: row %d is %v, want %v", rows, n, r, got, want)
					}
				}
			}
		}
	})
}

func TestMixRows_everySize(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		for _, cols := range []int{0, 1, 15, 16, 33, 64, 100, 130} {
			for rows := 1; rows < 12; rows++ {
				ld := cols + rows%3
				x, w := randSlice(1, rows), randSlice(2, (rows-1)*ld+cols)
				out := newGuarded(cols, rows)
				MixRows(out.data, x, w, ld)
				out.check(t, "MixRows")
				for c, got := range out.data {
					want := 0.0
					for k, v := range x {
						want += float64(v) * float64(w[k*ld+c])
					}
					if !(math.Abs(float64(got)-want) <= 1e-5*float64(1+rows)) {
						t.Fatalf("%d rows of %d: column %d is %v, want %v", rows, cols, c, got, want)
					}
				}
			}
		}
		// An infinity counts once, whatever rows stand beside it.
		inf := float32(math.Inf(1))
		for rows := 1; rows < 8; rows++ {
			w := make([]float32, rows*3)
			w[3*(rows-1)+1] = inf
			y := make([]float32, 3)
			MixRows(y, randSlice(3, rows), w, 3)
			if !math.IsInf(float64(y[1]), 0) || y[0] != 0 || y[2] != 0 {
				t.Fatalf("%d rows, an infinity in the last: %v", rows, y)
			}
		}
	})
}
