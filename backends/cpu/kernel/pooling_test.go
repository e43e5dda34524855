package kernel

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMaxTaps_ofAnySize(t *testing.T) {
	nan := float32(math.NaN())
	eachISA(t, func(t *testing.T) {
		for _, n := range []int{1, 3, 8, 15, 16, 17, 37, 64, 130} {
			src := make([]float32, 6*7*n)
			for i := range src {
				if src[i] = float32(i*131%251) - 300; i%101 == 50 {
					src[i] = nan
				}
			}
			for ys := 1; ys < 6; ys++ {
				for xs := 1; xs < 7; xs++ {
					got := make([]float32, n+1)
					got[n] = 77
					MaxTaps(got[:n], src, ys, xs, 7*n, n)
					for c := range n {
						want := float32(math.Inf(-1))
						for k := range ys * xs {
							want = max(want, src[k/xs*7*n+k%xs*n+c])
						}
						assert.True(t, want == got[c] || want != want && got[c] != got[c], "%d x %d, channel %d of %d: want %v, got %v",
							ys, xs, c, n, want, got[c])
					}
					assert.Equal(t, float32(77), got[n])
				}
			}
		}
	})
}
