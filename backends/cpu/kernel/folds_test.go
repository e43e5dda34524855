package kernel

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every instruction set folds the same numbers to the same bits, but for the kind of a NaN.
func TestFolds_areThoseOfGo(t *testing.T) {
	numbers := []float32{1, -1.5, 0.25, float32(math.Copysign(0, -1)), 3e38, -3e38, 1e-40, 7, -0.3}
	beyond := append(slices.Clone(numbers), float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()))
	eachISA(t, func(t *testing.T) {
		for op := range numFolds {
			for _, cols := range []int{1, 7, 8, 9, 24, 31, 32, 33, 75, 1 << 16} {
				for _, rows := range []int{0, 1, 2, 5} {
					for i, of := range [][]float32{numbers, beyond} {
						ld := cols + i*3
						x := make([]float32, rows*ld+1)
						state := uint32(cols)
						for k := range x {
							state = state*1664525 + 1013904223
							x[k] = of[int(state>>16)%len(of)]
						}
						want, got := make([]float64, cols), make([]float64, cols+1)
						for j := range want {
							want[j], got[j] = op.Nothing(), op.Nothing()
						}
						foldGeneric(op, want, x, ld, rows)
						FoldRows(op, got[:cols], x, ld, rows)
						for j := range want {
							require.True(t, math.Float64bits(want[j]) == math.Float64bits(got[j]) ||
								want[j] != want[j] && got[j] != got[j], "op %d, %dx%d, column %d", op, rows, cols, j)
						}
						require.Equal(t, 0.0, got[cols])
					}
				}
			}
		}
	})
}

func TestFoldLine_isTheFoldOfAll(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		work := make([]float64, FoldWork)
		for n := range 200 {
			x := make([]float32, n)
			sum, abs, squares, product := 0.0, 0.0, 0.0, 1.0
			for i := range x {
				x[i] = float32(i%5-2) + 0.5
				sum, abs = sum+float64(x[i]), abs+math.Abs(float64(x[i]))
				squares, product = squares+float64(x[i])*float64(x[i]), product*float64(x[i])
			}
			for op, want := range []float64{sum, abs, squares, product} {
				got := FoldLine(FoldOp(op), x, work)
				require.InDelta(t, want, got, math.Abs(want)*1e-14, "op %d of %d", op, n)
			}
		}
	})
}

// Without negative numbers the sum of magnitudes has the bits of the sum.
func TestSumAbs_addsAsSumDoes(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		work := make([]float32, 50)
		for _, n := range []int{0, 1, 15, 16, 17, 63, 64, 65, 1000, 2048, 2049, 5000} {
			x, y := make([]float32, n), make([]float32, n)
			for i := range x {
				x[i] = float32(i%17) + 0.1
				y[i] = x[i] * float32(1-i%3)
			}
			if fast.sumAbs != nil {
				require.Equal(t, Sum(x), SumAbs(x, nil))
			}
			want := 0.0
			for _, v := range y {
				want += math.Abs(float64(v))
			}
			require.InDelta(t, want, SumAbs(y, work), want*1e-6)
			if n > 0 {
				y[n/2] = float32(math.NaN())
				require.True(t, math.IsNaN(float64(SumAbs(y, work))))
				y[n/2] = float32(math.Inf(-1))
				require.True(t, math.IsInf(float64(SumAbs(y, work)), 1))
			}
		}
	})
}
