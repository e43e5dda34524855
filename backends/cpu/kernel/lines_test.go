package kernel

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// ranked is where the best of x is: all in the order of rank, which puts NaN first.
func ranked(x []float32, smallest, last bool) int {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	rank := func(v float32) float64 {
		switch {
		case v != v:
			return math.Inf(-1)
		case smallest:
			return math.Max(float64(v), -math.MaxFloat64)
		}
		return math.Max(-float64(v), -math.MaxFloat64)
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := rank(x[i]), rank(x[j])
		switch {
		case a < b:
			return -1
		case a > b:
			return 1
		case last:
			return j - i
		}
		return i - j
	})
	return order[0]
}

func TestBest_ofLinesAndOfOne(t *testing.T) {
	numbers := []float32{0, 1, -1, 2, 2, -3, -3, float32(math.Copysign(0, -1)), float32(math.Inf(1)),
		float32(math.Inf(-1)), float32(math.NaN()), 2.5}
	eachISA(t, func(t *testing.T) {
		for seed := range 40 {
			const lines, count = 45, 9
			x := make([]float32, lines*count)
			state := uint32(seed)
			for i := range x {
				state = state*1664525 + 1013904223
				x[i] = numbers[int(state>>20)%(2+seed%11)]
			}
			for _, smallest := range []bool{false, true} {
				for _, last := range []bool{false, true} {
					best, at := slices.Clone(x[:lines]), make([]int32, lines+1)
					at[lines] = 77
					for k := 1; k < count; k++ {
						Better(best, at[:lines], x[k*lines:][:lines], int32(k), smallest, last)
					}
					for j := range lines {
						var line []float32
						for k := range count {
							line = append(line, x[k*lines+j])
						}
						want := ranked(line, smallest, last)
						require.EqualValues(t, want, at[j], "%v smallest %v last %v", line, smallest, last)
						require.Equal(t, want, BestOf(line, smallest, last), "%v", line)
					}
					require.EqualValues(t, 77, at[lines])
				}
			}
		}
	})
}

func TestRunning_addsInDoublePrecision(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		for _, n := range []int{0, 1, 7, 8, 9, 40} {
			for _, exclusive := range []bool{false, true} {
				sums, want := make([]float64, n), make([]float64, n)
				x, y := make([]float32, n), make([]float32, n+1)
				for k := range 20 {
					for i := range x {
						x[i] = float32(math.Ldexp(1+float64(i*k%7), k))
					}
					Running(y[:n], x, sums, exclusive)
					for i := range x {
						before := want[i]
						if want[i] += float64(x[i]); !exclusive {
							before = want[i]
						}
						require.Equal(t, float32(before), y[i])
					}
					require.Zero(t, y[n])
				}
			}
		}
	})
}
