package ops

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
)

// quotientsOf compares quotients of all pairs of values with exact ones, of which the type keeps the low bits.
func quotientsOf[T whole](t *testing.T, exact func(T) *big.Int, keep func(*big.Int) T, values ...T) {
	for _, a := range values {
		for _, b := range values {
			if b != 0 {
				want := keep(new(big.Int).Quo(exact(a), exact(b)))
				require.Equal(t, want, quotient(a, b), "%T: %v / %v", a, a, b)
			}
		}
	}
}

func TestQuotient_atTheEndsOfTypes(t *testing.T) {
	signed := func(x int64) *big.Int { return big.NewInt(x) }
	low := func(q *big.Int) uint64 {
		return new(big.Int).And(q, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
	}
	quotientsOf(t, func(x int8) *big.Int { return signed(int64(x)) }, func(q *big.Int) int8 { return int8(low(q)) },
		-128, -127, -3, -1, 0, 1, 2, 126, 127)
	quotientsOf(t, func(x int32) *big.Int { return signed(int64(x)) }, func(q *big.Int) int32 { return int32(low(q)) },
		math.MinInt32, math.MinInt32+1, -3, -1, 0, 1, 2, math.MaxInt32-1, math.MaxInt32)
	quotientsOf(t, signed, func(q *big.Int) int64 { return int64(low(q)) }, math.MinInt64, math.MinInt64+1, -1<<32, -1<<31,
		-3, -1, 0, 1, 2, 1<<31, 1<<32+1, 1<<53+1, math.MaxInt64-1, math.MaxInt64)
	quotientsOf(t, func(x uint32) *big.Int { return signed(int64(x)) }, func(q *big.Int) uint32 { return uint32(low(q)) },
		0, 1, 2, 3, math.MaxInt32, 1<<31, math.MaxUint32-3, math.MaxUint32)
	quotientsOf(t, func(x uint64) *big.Int { return new(big.Int).SetUint64(x) }, low, 0, 1, 2, 3, math.MaxInt32, 1<<31,
		math.MaxUint32, 1<<53+1, math.MaxInt64, 1<<63, math.MaxUint64-4, math.MaxUint64)
}
