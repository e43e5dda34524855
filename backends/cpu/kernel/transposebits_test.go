package kernel

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func testTransposeBits[T uint8 | uint16 | uint64](t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	for _, c := range [][2]int{{1, 1}, {8, 8}, {7, 9}, {9, 7}, {64, 16}, {65, 17}, {130, 3}, {3, 130}, {100, 75}, {0, 5},
		{5, 0}, {16, 16}, {33, 47}, {15, 40}, {40, 15}, {200, 8}} {
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
	eachISA(t, func(t *testing.T) {
		t.Run("bytes", testTransposeBits[uint8])
		t.Run("halves", testTransposeBits[uint16])
		t.Run("doubles", testTransposeBits[uint64])
		t.Run("thin bytes", testTransposeThin[uint8])
		t.Run("thin halves", testTransposeThin[uint16])
		t.Run("thin doubles", testTransposeThin[uint64])
	})
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

func testTransposeThin[T uint8 | uint16 | uint64](t *testing.T) {
	for _, few := range []int{1, 2, 3, 4} {
		for _, n := range []int{1, 2, 15, 16, 17, 33, 64, 100, 8200} {
			for _, across := range []bool{false, true} {
				rows, cols := few, n
				if across {
					rows, cols = n, few
				}
				src, dst, want := make([]T, rows*cols), make([]T, rows*cols+1), make([]T, rows*cols+1)
				for i := range src {
					src[i] = T(i*i*7 + i>>3)
				}
				for r := range rows {
					for c := range cols {
						want[c*rows+r] = src[r*cols+c]
					}
				}
				TransposeBits(dst, rows, src, cols, rows, cols)
				require.Equal(t, want, dst, "%d x %d", rows, cols)
			}
		}
	}
}

func TestTranspose_thinMatrices(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		for _, few := range []int{2, 3, 4} {
			for _, n := range []int{1, 7, 8, 9, 33, 100} {
				src, dst, back := make([]float32, few*n), make([]float32, few*n), make([]float32, few*n)
				for i := range src {
					src[i] = float32(i)
				}
				Transpose(dst, few, src, n, few, n)
				for i, v := range dst {
					require.Equal(t, float32(i%few*n+i/few), v)
				}
				Transpose(back, n, dst, few, n, few)
				require.Equal(t, src, back)
			}
		}
	})
}

func TestCopy_andRepeat(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		for _, n := range []int{0, 1, 31, 127, 128, 129, 511, 512, 5000, 70000, 300001} {
			src, dst := make([]uint16, n), make([]uint16, n+3)
			for i := range src {
				src[i] = uint16(i * 31)
			}
			require.Equal(t, n, Copy(dst, src))
			require.Equal(t, src, dst[:n])
			require.Equal(t, []uint16{0, 0, 0}, dst[n:])
			for _, k := range []int{1, 2, 3, 100, 9000} {
				if k >= n {
					continue
				}
				line := make([]uint16, n)
				copy(line, src[:k])
				Repeat(line, k)
				for i, v := range line {
					if v != src[i%k] {
						require.Fail(t, "wrong", "element %d of %d, repeated after %d", i, n, k)
					}
				}
			}
		}
	})
}

func TestThin_takesElementsApart(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		for _, size := range []int{1, 2, 4, 8} {
			for _, step := range []int{1, 2, 3, 4, 8} {
				for _, n := range []int{0, 1, 2, 32, 33, 65, 100} {
					src, dst := make([]byte, max(0, (n-1)*step+1)*size), make([]byte, n*size+1)
					for i := range src {
						src[i] = byte(i * 37 >> 1)
					}
					Thin(dst, src, size, step, n)
					for i := range n {
						require.Equal(t, src[i*step*size:][:size], dst[i*size:][:size], "%d of %d, step %d", i, n, step)
					}
					require.Zero(t, dst[n*size])
				}
			}
		}
	})
}

func TestEnlarge_eachElementFourTimes(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		for _, size := range []int{1, 2, 4, 8} {
			for _, cols := range []int{1, 2, 3, 4, 5, 15, 16, 17, 31, 33, 40} {
				const rows = 3
				src, dst := make([]byte, rows*cols*size), make([]byte, 4*rows*cols*size+1)
				for i := range src {
					src[i] = byte(i*73 + i>>4)
				}
				Enlarge(dst, src, size, cols, rows)
				for y := range 2 * rows {
					for x := range 2 * cols {
						want := src[(y/2*cols+x/2)*size:][:size]
						require.Equal(t, want, dst[(y*2*cols+x)*size:][:size], "row %d, column %d of %d", y, x, cols)
					}
				}
				require.Zero(t, dst[len(dst)-1])
			}
		}
	})
}
