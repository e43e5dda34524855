package kernel

import (
	"math"
	"testing"

	"github.com/anynpu/anynpu/core/mem"
	"github.com/stretchr/testify/require"
)

// holds is a comparison of exact numbers.
func holds[T Comparable](c Comparison, a, b T) bool {
	switch c {
	case Less:
		return a < b
	case LessEqual:
		return a <= b
	case Greater:
		return b < a
	case GreaterEqual:
		return b <= a
	case Equal:
		return a == b
	}
	return !(a == b)
}

// comparesAll tries each comparison of numbers of a type at all lengths, with nothing written behind them.
func comparesAll[T Comparable](t *testing.T, some []T) {
	for c := range numComparisons {
		for _, n := range append(lengths(), 31, 32, 33, 64, 95, 127, 1<<13+37) {
			a, b, out := make([]T, n), make([]T, n), make([]uint8, n+40)
			for i := range a {
				a[i], b[i] = some[i%len(some)], some[(i/len(some)+i*3)%len(some)]
			}
			for i := range out {
				out[i] = 0xaa
			}
			CompareVV(c, out[:n], a, b)
			for i := range n {
				require.Equal(t, bit(holds(c, a[i], b[i])), out[i], "%v(%v, %v), %d of %d", c, a[i], b[i], i, n)
			}
			require.Equal(t, uint8(0xaa), out[n], "written behind")
			s := some[n%len(some)]
			CompareVS(c, out[:n], a, []T{s})
			for i := range n {
				require.Equal(t, bit(holds(c, a[i], s)), out[i], "%v(%v, %v), %d of %d", c, a[i], s, i, n)
				require.Equal(t, holds(c, a[i], s), holds(c.Swapped(), s, a[i]))
			}
			require.Equal(t, uint8(0xaa), out[n], "written behind")
		}
	}
}

func TestCompare_everyTypeAndLength(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		comparesAll(t, append([]float32{1, 2, -1}, specials...))
		comparesAll(t, []int32{0, 1, -1, math.MaxInt32, math.MinInt32, 77, 78})
		comparesAll(t, []int64{0, 1, -1, math.MaxInt64, math.MinInt64, 1 << 32, 1<<32 + 1, -1 << 32, math.MaxUint32})
	})
}

func TestIntegers_everyFunction(t *testing.T) {
	want := func(op IntegerOp, a, b int64) int64 {
		truth := func(x int64) int64 { return min(x, 1) }
		switch op {
		case AddI32, AddI64:
			return a + b
		case SubI32, SubI64:
			return a - b
		case MulI32:
			return a * b
		case MinI32, MinI64:
			return min(a, b)
		case MaxI32, MaxI64:
			return max(a, b)
		case AndBits:
			return a & b
		case OrBits:
			return a | b
		case XorBits:
			return a ^ b
		case AndBool:
			return truth(a) * truth(b)
		case OrBool:
			return max(truth(a), truth(b))
		}
		return truth(a) ^ truth(b)
	}
	eachISA(t, func(t *testing.T) {
		for op := range numInteger {
			for _, n := range append(lengths(), 65, 1<<12+5) {
				size := op.Size()
				a, b, y := make([]byte, size*n), make([]byte, size*n), make([]byte, size*n+64)
				for i := range a {
					a[i], b[i] = byte(i*i*37>>3), byte(i*91)
					if size == 1 && i%3 == 0 {
						a[i], b[i] = byte(i/3%2), byte(i/6%3)
					}
				}
				read := func(x []byte, i int) int64 {
					switch size {
					case 4:
						return int64(mem.Elements[int32](x)[i])
					case 8:
						return mem.Elements[int64](x)[i]
					}
					return int64(x[i])
				}
				check := func(other func(i int) int64) {
					for i := range n {
						w := want(op, read(a, i), other(i))
						if size == 4 {
							w = int64(int32(w))
						}
						require.Equal(t, w, read(y, i), "%v: %d of %d", op, i, n)
					}
					require.Zero(t, y[size*n], "written behind")
				}
				IntegersVV(op, y[:size*n], a, b)
				check(func(i int) int64 { return read(b, i) })
				if n > 0 {
					IntegersVS(op, y[:size*n], a, b)
					check(func(int) int64 { return read(b, 0) })
				}
			}
		}
	})
}
