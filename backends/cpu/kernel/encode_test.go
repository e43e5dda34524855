package kernel

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEncodeU8_isAsByDivision: numbers in the middle between two codes and beside it are rounded as the quotient of
// float32 is, whatever its reciprocal would give.
func TestEncodeU8_isAsByDivision(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	scales := []float32{0.05, 1. / 3, 0.0078125, 1, 7.3, -0.11, 1e-7, 3e20, 0x1p-110, 1e-42, 0x1p120,
		0x1.fffffep-3, 0x1.fffffcp-3, 0x1.000002p-3}
	eachISA(t, func(t *testing.T) {
		for _, scale := range scales {
			for _, zero := range []int{0, 128, 255, 7} {
				x := []float32{nan, inf, -inf, 0, float32(math.Copysign(0, -1)), math.MaxFloat32, -math.MaxFloat32}
				for k := -300; k < 300; k++ {
					v := (float32(k) + 0.5) * scale
					for range 3 {
						v = math.Nextafter32(v, -inf)
					}
					for range 7 {
						x = append(x, v)
						v = math.Nextafter32(v, inf)
					}
				}
				for _, v := range randSlice(uint64(zero), 1000) {
					x = append(x, v*scale*300)
				}
				got := make([]uint8, len(x)+1)
				got[len(x)] = 77
				EncodeU8(got[:len(x)], x, scale, zero)
				for i, v := range x {
					want := 0.0
					if q := v / scale; q == q {
						want = min(max(math.RoundToEven(float64(q)), -1000), 1000)
					}
					if code := uint8(min(max(want+float64(zero), 0), 255)); got[i] != code {
						t.Fatalf("%v / %v + %d: got %d, want %d", v, scale, zero, got[i], code)
					}
				}
				require.EqualValues(t, 77, got[len(x)])
			}
		}
	})
}
