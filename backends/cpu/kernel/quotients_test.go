package kernel

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// exactQuotient is the definition of the functions of integers.
func exactQuotient(op Quotient, a, b int64) int64 {
	q, r := a/b, a%b
	if (op == DivFloor || op == ModFloor) && r != 0 && (r < 0) != (b < 0) {
		q, r = q-1, r+b
	}
	if op == ModTrunc || op == ModFloor {
		return r
	}
	return q
}

func checkQuotients[T int32 | int64](t *testing.T, numbers []T, far T) {
	n := len(numbers)
	var a, b []T
	for i := range n * n {
		if y := numbers[i/n]; y != 0 {
			a, b = append(a, numbers[i%n]), append(b, y)
		}
	}
	for len(a)%quotientStep != 5 {
		a, b = append(a, 7), append(b, -2)
	}
	for op := range numQuotients {
		check := func(dst, a []T, by func(i int) T, got int) {
			if fast.quotientsVV[kindOf[T]()][op] != nil {
				require.Equal(t, len(a)&^(quotientStep-1), got)
			}
			for i, v := range dst[:got] {
				if w := T(exactQuotient(op, int64(a[i]), int64(by(i)))); v != w {
					t.Fatalf("%d of %d and %d: %d, want %d", op, a[i], by(i), v, w)
				}
			}
		}
		dst := make([]T, len(a))
		check(dst, a, func(i int) T { return b[i] }, Quotients(op, dst, a, b))
		for _, y := range numbers {
			if y != 0 {
				check(dst, a, func(int) T { return y }, Quotients(op, dst, a, []T{y}))
			}
		}
		if far != 0 { // in the second block of three, which is refused or right
			long, ones := make([]T, 3*QuotientBlock), make([]T, 3*QuotientBlock)
			for i := range long {
				long[i], ones[i] = 6, 1
			}
			long[QuotientBlock+17] = far
			dst := make([]T, len(long))
			checkFar := func(got int, of func(i int) T) {
				if got != len(long) {
					require.Equal(t, QuotientBlock, got)
				}
				for i, v := range dst[:got] {
					require.Equal(t, of(i), v)
				}
			}
			if got := Quotients(op, dst, long, []T{3}); fast.quotientsVS[kindOf[T]()][op] != nil {
				checkFar(got, func(i int) T { return T(exactQuotient(op, int64(long[i]), 3)) })
			}
			if got := Quotients(op, dst, ones, long); fast.quotientsVV[kindOf[T]()][op] != nil {
				checkFar(got, func(i int) T { return T(exactQuotient(op, 1, int64(long[i]))) })
			}
		}
	}
}

func TestQuotients_ofIntegers(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		checkQuotients(t, []int32{0, 1, -1, 2, -2, 3, 7, -7, 10, 255, -1000, 46341, math.MaxInt32, math.MaxInt32 - 1,
			math.MinInt32, math.MinInt32 + 1}, 0)
		checkQuotients(t, []int64{0, 1, -1, 2, -2, 3, 7, -7, 10, 255, -1000, 1 << 32, -5 << 33, 1<<51 - 1, 1<<51 - 2,
			-1 << 51, 94906265, 94906267}, 1<<51)
		checkQuotients(t, []int64{1, -3}, math.MinInt64)
	})
}

func TestQuotients_ofFloat32(t *testing.T) {
	nan := float32(math.NaN())
	eachISA(t, func(t *testing.T) {
		numbers := []float32{0.5, -0.5, 1, 3, -3, 0.1, 7.25, 1e6, -16777.5, float32(math.Copysign(0, -1)), 0, 1e-3, 12345.678}
		for _, y := range numbers {
			if y == 0 || math.Abs(float64(y)) < 0.1 {
				continue
			}
			a := append(numbers, numbers[:3]...)
			dst := make([]float32, len(a))
			got := Quotients(ModTrunc, dst, a, []float32{y})
			if fast.quotientsVS[kindOf[float32]()][ModTrunc] != nil {
				require.Equal(t, len(a), got)
			}
			for i, v := range dst[:got] {
				w := float32(math.Mod(float64(a[i]), float64(y)))
				require.Equal(t, math.Float32bits(w), math.Float32bits(v), "%v mod %v", a[i], y)
			}
		}
		for _, c := range [][2]float32{{nan, 1}, {1, nan}, {inf32, 2}, {2, inf32}, {1, 0}, {0, 0}, {3e9, 7}} {
			a, b := make([]float32, 16), make([]float32, 16)
			for i := range a {
				a[i], b[i] = 5, 3
			}
			a[11], b[11] = c[0], c[1]
			require.Zero(t, Quotients(ModTrunc, make([]float32, 16), a, b), "%v", c)
		}
	})
}
