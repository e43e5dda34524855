package kernel

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func testTransposeBits[T uint8 | uint16 | uint64](t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	for _, c := range [][2]int{{1, 1}, {8, 8}, {7, 9}, {9, 7}, {64, 16}, {65, 17}, {130, 3}, {3, 130}, {100, 75}, {0, 5},
		{5, 0}} {
		rows, cols := c[0], c[1]
		lds, ldd := cols+3, rows+5
		src := make([]T, max(0, rows*lds))
		for i := range src {
			src[i] = T(rnd.Uint64())
		}
		dst := make([]T, cols*ldd)
		want := make([]T, len(dst))
		for i := range dst {
			dst[i], want[i] = T(i), T(i)
		}
		for r := range rows {
			for k := range cols {
				want[k*ldd+r] = src[r*lds+k]
			}
		}
		TransposeBits(dst, ldd, src, lds, rows, cols)
		require.Equal(t, want, dst, "%d x %d", rows, cols)
	}
}

func TestTransposeBits_equalsDefinition(t *testing.T) {
	t.Run("bytes", testTransposeBits[uint8])
	t.Run("halves", testTransposeBits[uint16])
	t.Run("doubles", testTransposeBits[uint64])
	require.Panics(t, func() { TransposeBits(make([]uint8, 3), 2, make([]uint8, 4), 2, 2, 2) })
}

func BenchmarkTransposeBits_bytes(b *testing.B) {
	const rows, cols = 1600, 255
	dst, src := make([]uint8, rows*cols), make([]uint8, rows*cols)
	b.SetBytes(rows * cols)
	for b.Loop() {
		TransposeBits(dst, rows, src, cols, rows, cols)
	}
}
