package kernel

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMaxPairs_ofRows(t *testing.T) {
	odd := []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.Copysign(0, -1))}
	eachISA(t, func(t *testing.T) {
		for n := 1; n < 70; n++ {
			for _, rows := range []int{1, 2, 5} {
				ldd, lds := n+rows%3, 2*n+rows
				src := make([]float32, (rows-1)*lds+2*n+PairsBehind)
				for i := range src {
					if src[i] = float32(i*131%251) - 100; i%13 == n%13 {
						src[i] = odd[i/13%4]
					}
				}
				for _, taps := range []int{2, 3} {
					got, want := make([]float32, rows*ldd+1), make([]float32, rows*ldd+1)
					for i := range got {
						got[i], want[i] = 77, 77
					}
					MaxPairs(got, ldd, src, lds, n, rows, taps)
					maxPairsGeneric(want, ldd, src, lds, n, rows, taps)
					for i, w := range want {
						assert.True(t, w == got[i] || w != w && got[i] != got[i], "%d taps, %d x %d, element %d: want %v, got %v",
							taps, rows, n, i, w, got[i])
					}
				}
			}
		}
	})
}

func TestMax3_ofAnyLength(t *testing.T) {
	odd := []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.Copysign(0, -1)), 5}
	eachISA(t, func(t *testing.T) {
		for n := range 140 {
			x, got := make([]float32, n+9), make([]float32, n+1)
			for i := range x {
				if x[i] = float32(i*131%251) - 100; i%7 == n%7 {
					x[i] = odd[i/7%5]
				}
			}
			got[n] = 77
			Max3(got[:n], x, x[2:], x[9:])
			for i := range n {
				w := max(x[i], x[i+2], x[i+9])
				assert.True(t, w == got[i] || w != w && got[i] != got[i], "%d of %d: want %v, got %v", i, n, w, got[i])
			}
			assert.Equal(t, float32(77), got[n])
		}
	})
}
