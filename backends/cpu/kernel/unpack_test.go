package kernel

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// bitsOf returns values whose bits tell them apart, some of them not numbers.
func bitsOf(n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = math.Float32frombits(0x7f800000 - uint32(n/2) + uint32(i))
	}
	return v
}

func sameBits(t *testing.T, want, got []float32, name string) {
	t.Helper()
	for i := range want {
		if math.Float32bits(want[i]) != math.Float32bits(got[i]) {
			assert.Fail(t, "bits differ", "%s: value %d: want %x, got %x", name, i, math.Float32bits(want[i]),
				math.Float32bits(got[i]))
			return
		}
	}
}

func TestUnpack_givesTheBitsBack(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		for _, n := range []int{1, 7, 16, 17, 31, 32, 33, 48, 49, 96, 100} {
			for _, k := range []int{1, 3, 8, 64, 65, 131} {
				name := fmt.Sprintf("k=%d n=%d", k, n)
				b, packed, got := bitsOf(k*n), make([]float32, PackedLen(k, n)), make([]float32, k*n)
				PackB(packed, b, k, n, n)
				UnpackB(got, packed, k, n, n)
				sameBits(t, b, got, "rows, "+name)
				clear(got)
				PackBT(packed, b, k, n, k)
				UnpackBT(got, packed, k, n, k)
				sameBits(t, b, got, "columns, "+name)
			}
		}
	})
}

func TestScalePacked_isThePackOfTheProducts(t *testing.T) {
	for _, n := range []int{1, 16, 17, 33, 80} {
		const k = 5
		b, scale, scaled := randSlice(1, k*n), randSlice(2, n), make([]float32, k*n)
		for i, x := range b {
			scaled[i] = x * scale[i%n]
		}
		want, got := make([]float32, PackedLen(k, n)), make([]float32, PackedLen(k, n))
		PackB(want, scaled, k, n, n)
		PackBRows(got, b, k, n, n, 3, k)
		PackBRows(got, b, k, n, n, 0, 3)
		for p := range Panels(n) {
			ScalePacked(got, scale, k, n, p, p+1, 0, 2)
			ScalePacked(got, scale, k, n, p, p+1, 2, k)
		}
		assert.Equal(t, want, got, "n=%d", n)
	}
}

func TestPackWinograd_partsMakeTheWhole(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		const c, n = 37, 41
		w, tmp := randSlice(3, 9*c*n), make([]float32, 18*16)
		want, got := make([]float32, PackedWinogradLen(c, n)), make([]float32, PackedWinogradLen(c, n))
		PackWinograd(want, w, c, n, 0, c, tmp)
		for c0 := 0; c0 < c; c0 += 16 {
			c1 := min(c, c0+16)
			PackWinograd(got, filterChannels(w, c, n, c0, c1), c, n, c0, c1, tmp)
		}
		assert.Equal(t, want, got)
	})
}
