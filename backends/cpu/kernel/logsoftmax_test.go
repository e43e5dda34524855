package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLogSoftmaxRows_ofRowsOfAllLengths(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	eachISA(t, func(t *testing.T) {
		for _, cols := range []int{1, 2, 7, 8, 9, 15, 16, 17, 33, 64, 100, 1000, expBlock, expBlock + 1} {
			for _, scale := range []float32{1, 0.5, 0, -2} {
				const rows = 3
				x, y := make([]float32, rows*cols), make([]float32, rows*cols+1)
				for i := range x {
					x[i] = float32(rnd.NormFloat64() * 10)
				}
				x[0] = float32(math.Inf(-1)) // the row is NaN if there is nothing else, or if the scale is below 1
				x[cols+cols/2] = float32(math.NaN())
				LogSoftmaxRows(y, x, rows, cols, scale, make([]float32, 64))
				for r := range rows {
					most, sum := math.Inf(-1), 0.0
					for _, v := range x[r*cols:][:cols] {
						most = max(most, float64(v*scale))
					}
					for _, v := range x[r*cols:][:cols] {
						sum += math.Exp(float64(v*scale) - most)
					}
					for c, v := range x[r*cols:][:cols] {
						want, got := float64(v*scale)-most-math.Log(sum), float64(y[r*cols+c])
						if want-want != 0 {
							require.True(t, want != want && got != got || want == got, "%v, want %v", got, want)
							continue
						}
						require.InDelta(t, want, got, 1e-6*max(1, math.Abs(want)), "row %d of %d, scale %v", r, cols, scale)
					}
				}
				require.Zero(t, y[rows*cols])
			}
		}
	})
}
