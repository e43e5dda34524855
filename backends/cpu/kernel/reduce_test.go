package kernel

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReduce_allLengths(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		for _, n := range append(lengths(), reduceBlock+3) {
			g := newGuarded(n, n)
			x := fillRand(rng(uint64(n)), g.data)
			sum, lo, hi, mag := 0.0, math.Inf(1), math.Inf(-1), 0.0
			for _, v := range x {
				sum, mag = sum+float64(v), mag+math.Abs(float64(v))
				lo, hi = min(lo, float64(v)), max(hi, float64(v))
			}
			assert.InDelta(t, sum, Sum(x), 1e-6*mag, "n %d", n)
			assert.Equal(t, float32(lo), MinOf(x), "n %d", n)
			assert.Equal(t, float32(hi), MaxOf(x), "n %d", n)
			sq := 0.0
			for _, v := range x {
				sq += (float64(v) - 0.25) * (float64(v) - 0.25)
			}
			assert.InDelta(t, sq, SumSquares(x, 0.25), 2e-6*sq, "n %d", n)
			for i := 0; i < n; i += 1 + n/20 {
				keep := x[i]
				x[i] = float32(math.NaN())
				assert.True(t, math.IsNaN(float64(MaxOf(x))) && math.IsNaN(float64(MinOf(x))) && math.IsNaN(float64(Sum(x))),
					"NaN at %d of %d", i, n)
				x[i] = inf32
				assert.Equal(t, inf32, MaxOf(x))
				x[i] = -inf32
				assert.Equal(t, -inf32, MinOf(x))
				x[i] = keep
			}
		}
	})
}

func TestReduce_rowsAndColumns(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		const rows, cols = 7, 21
		x := randSlice(4, rows*cols)
		byRow, byCol, work := make([]float32, rows), make([]float32, cols), make([]float32, 1000)
		for op, f := range map[ReduceOp]func(a, b float64) float64{
			ReduceSum: func(a, b float64) float64 { return a + b }, ReduceMax: math.Max, ReduceMin: math.Min,
		} {
			ReduceRows(op, byRow, x, rows, cols, work)
			ReduceCols(op, byCol, x, rows, cols, work)
			for r := range rows {
				w := float64(x[r*cols])
				for c := 1; c < cols; c++ {
					w = f(w, float64(x[r*cols+c]))
				}
				assert.InDelta(t, w, byRow[r], 1e-5)
			}
			for c := range cols {
				w := float64(x[c])
				for r := 1; r < rows; r++ {
					w = f(w, float64(x[r*cols+c]))
				}
				assert.InDelta(t, w, byCol[c], 1e-5)
			}
			ReduceCols(op, byCol, nil, 0, cols, work)
			ReduceRows(op, byRow, nil, rows, 0, work)
			assert.Equal(t, byCol[3], byRow[2])
		}
	})
}

func TestSoftmaxRows_againstFloat64(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		for _, n := range append(lengths()[1:], 4096) {
			for _, scale := range []float32{1, 0.125, -2} {
				x := newGuarded(2*n, n)
				fillRand(rng(uint64(n)), x.data)
				for i := range x.data {
					x.data[i] *= 6
				}
				out := newGuarded(2*n, n+3)
				SoftmaxRows(out.data, x.data, 2, n, scale)
				out.check(t, "softmax")
				for r := range 2 {
					sum, m := 0.0, math.Inf(-1)
					for _, v := range x.data[r*n:][:n] {
						m = max(m, float64(v)*float64(scale))
					}
					for _, v := range x.data[r*n:][:n] {
						sum += math.Exp(float64(v)*float64(scale) - m)
					}
					for i, v := range x.data[r*n:][:n] {
						w := math.Exp(float64(v)*float64(scale)-m) / sum
						arg := math.Abs(float64(v)*float64(scale) - m)
						require.LessOrEqual(t, ulps(out.data[r*n+i], w), 10+arg, "n %d scale %v", n, scale)
					}
				}
			}
		}
		x := []float32{1, float32(math.NaN()), 2}
		SoftmaxRows(x, x, 1, 3, 1)
		for _, v := range x {
			assert.True(t, math.IsNaN(float64(v)))
		}
		// Rows of one call are apart: a bad one leaves those beside it alone.
		for _, n := range lengths()[1:] {
			rows := 5 + (1<<13)/n
			if n > 512 {
				continue
			}
			x, y := randSlice(uint64(n), rows*n), make([]float32, rows*n)
			x[2*n] = float32(math.NaN())
			for i := range n {
				x[3*n+i] = -inf32
			}
			x[5*n-1] = inf32
			SoftmaxRows(y, x, rows, n, 0.5)
			for r := range rows {
				sum := 0.0
				for _, v := range y[r*n:][:n] {
					sum += float64(v)
				}
				if r >= 2 && r <= 4 {
					assert.True(t, math.IsNaN(sum), "row %d of %d", r, n)
				} else {
					assert.InDelta(t, 1, sum, 1e-5, "row %d of %d", r, n)
				}
			}
		}
		y := []float32{1000, -inf32, 1000}
		SoftmaxRows(y, y, 1, 3, 1)
		assert.Equal(t, []float32{0.5, 0, 0.5}, y)
	})
}

func TestLayerNormRows_againstFloat64(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		for _, n := range lengths()[1:] {
			const rows, eps = 3, 1e-5
			src, res := randSlice(uint64(n), rows*n), randSlice(uint64(n+1), rows*n)
			gamma, beta := randSlice(5, n), randSlice(6, n)
			for mode := range 4 {
				out, sum := newGuarded(rows*n, n), newGuarded(rows*n, 1)
				var r, s []float32
				if mode&1 != 0 {
					r = res
				}
				if mode&2 != 0 {
					s = sum.data
				}
				LayerNormRows(out.data, src, r, s, gamma, beta, rows, n, eps)
				out.check(t, "dst")
				sum.check(t, "sum")
				for i := range rows {
					x := make([]float64, n)
					mean, v := 0.0, 0.0
					for j := range x {
						x[j] = float64(src[i*n+j])
						if r != nil {
							x[j] += float64(r[i*n+j])
						}
						if s != nil {
							require.InDelta(t, x[j], s[i*n+j], 1e-6)
						}
						mean += x[j] / float64(n)
					}
					for _, y := range x {
						v += (y - mean) * (y - mean) / float64(n)
					}
					for j, y := range x {
						w := (y-mean)/math.Sqrt(v+eps)*float64(gamma[j]) + float64(beta[j])
						require.InDelta(t, w, out.data[i*n+j], 1e-4, "n %d mode %d", n, mode)
					}
				}
			}
		}
	})
}

func TestScaleShiftRows_lengths(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		for _, n := range lengths() {
			src, scale, shift := randSlice(1, 3*n), randSlice(2, n), randSlice(3, n)
			out := newGuarded(3*n, n)
			ScaleShiftRows(out.data, src, scale, shift, 3, n)
			out.check(t, "dst")
			for i, v := range out.data {
				require.InDelta(t, float64(src[i])*float64(scale[i%n])+float64(shift[i%n]), v, 1e-6)
			}
		}
	})
}

// The scratch memory for some rows is enough for fewer.
func TestReduceRows_workOfFewerRows(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		for _, cols := range []int{1, 2, 3, 19, 24, 25} {
			x := randSlice(uint64(cols), 600*cols)
			work := make([]float32, ReduceRowsWork(600, cols))
			for _, rows := range []int{1, 3, 190, 255, 256, 257, 300, 600} {
				out := newGuarded(rows, 0)
				ReduceRows(ReduceSum, out.data, x, rows, cols, work)
				out.check(t, "ReduceRows")
				for r, got := range out.data {
					want := 0.0
					for _, v := range x[r*cols:][:cols] {
						want += float64(v)
					}
					if !(math.Abs(float64(got)-want) <= 1e-5*float64(cols)) {
						t.Fatalf("row %d of %d of %d: got %v, want %v", r, rows, cols, got, want)
					}
				}
			}
		}
	})
}
