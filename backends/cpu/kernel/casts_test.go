package kernel

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCastIntegers_keepsLowBytesAndSigns(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		for _, from := range []int{1, 2, 4, 8} {
			for _, to := range []int{1, 2, 4, 8} {
				for _, signed := range []bool{false, true} {
					for _, n := range append(lengths(), 32, 63, 65, 1<<13+37) {
						x, _ := someIntegers(from, n)
						y := make([]byte, n*to+64)
						CastIntegers(y, to, x, from, signed, n)
						for i := range n {
							want, s := integerAt(x, i, from)
							if signed {
								want = uint64(s)
							}
							got, _ := integerAt(y, i, to)
							if want = want << (64 - 8*to) >> (64 - 8*to); want != got {
								require.Equal(t, want, got, "%d to %d: %d of %d", from, to, i, n)
							}
						}
						require.Zero(t, y[n*to], "written behind")
					}
				}
			}
		}
	})
}

// roundedOnce is the float32 nearest to an integer, ties to even.
func roundedOnce(x int64) float32 {
	f, _ := new(big.Float).SetInt64(x).Float32()
	return f
}

func TestIntsToFloat_roundOnce(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		var long []int64
		for shift := range 63 {
			for _, d := range []int64{-1, 0, 1} {
				long = append(long, 1<<shift+d, -(1<<shift)-d, 3<<shift+d, 1<<shift+1<<max(shift-24, 0)+d)
			}
		}
		for _, n := range []int{0, 1, 31, 32, 64, len(long)} {
			y := make([]float32, n)
			Int64ToFloat(y, long)
			for i, x := range long[:n] {
				require.Equal(t, roundedOnce(x), y[i], "%d", x)
			}
			words, unsigned := make([]int32, n), make([]uint32, n)
			for i, x := range long[:n] {
				words[i], unsigned[i] = int32(x), uint32(x)
			}
			Int32ToFloat(y, words)
			for i, x := range words {
				require.Equal(t, roundedOnce(int64(x)), y[i], "%d", x)
			}
			Uint32ToFloat(y, unsigned)
			for i, x := range unsigned {
				require.Equal(t, roundedOnce(int64(x)), y[i], "%d", x)
			}
		}
	})
}

func TestFloatToInt32_dropsFractions(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		for _, n := range []int{0, 1, 31, 32, 33, 100} {
			x, y := make([]float32, n), make([]int32, n)
			for i := range x {
				x[i] = float32(i*i*i)*1.37 - 1000.5
			}
			require.True(t, FloatToInt32(y, x))
			for i, v := range x {
				require.Equal(t, int32(math.Trunc(float64(v))), y[i], "%v", v)
			}
			for i := range x {
				for _, bad := range []float32{1 << 31, -1<<31 - 256, float32(math.NaN()), float32(math.Inf(-1))} {
					was := x[i]
					x[i] = bad
					require.False(t, FloatToInt32(y, x), "%v at %d of %d", bad, i, n)
					x[i] = was
				}
			}
		}
	})
}

func TestFloats_betweenTypes(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		var double []float64
		var brain []uint16
		for i := range 1 << 16 {
			if h := uint16(i); h&0x7f80 != 0x7f80 || h&0x40 != 0 || h&0x7f == 0 { // a NaN that signals becomes quiet
				brain = append(brain, h)
			}
			double = append(double, math.Ldexp(1+float64(i)/(1<<24)+float64(i%3-1)/(1<<40), i%300-150))
		}
		double = append(double, math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), math.MaxFloat64)
		y := make([]float32, len(double))
		DoubleToFloat(y, double)
		back := make([]float64, len(y))
		FloatToDouble(back, y)
		for i, x := range double {
			if math.IsNaN(x) {
				require.True(t, y[i] != y[i])
				continue
			}
			want, _ := big.NewFloat(x).Float32()
			if math.Float32bits(y[i]) != math.Float32bits(want) || back[i] != float64(want) {
				t.Fatalf("%v: got %v and, back, %v; want %v", x, y[i], back[i], want)
			}
		}
		y = y[:len(brain)]
		BrainToFloat(y, brain)
		again := make([]uint16, len(brain))
		FloatToBrain(again, y)
		for i, h := range brain {
			require.Equal(t, uint32(h)<<16, math.Float32bits(y[i]))
		}
		require.Equal(t, brain, again)
		odd := []float32{math.Float32frombits(0x3f808000), math.Float32frombits(0x3f818000), math.Float32frombits(0x3f808001),
			math.Float32frombits(0x7f7fffff), math.Float32frombits(0x7f800001)}
		for len(odd) < 70 {
			odd = append(odd, odd...)
		}
		got := make([]uint16, len(odd))
		FloatToBrain(got, odd)
		for i := range got {
			require.Equal(t, []uint16{0x3f80, 0x3f82, 0x3f81, 0x7f80, 0x7fc0}[i%5], got[i])
		}
	})
}
