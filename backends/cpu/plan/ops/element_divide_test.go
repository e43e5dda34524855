package ops

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/mem"
)

func TestDivisor_truncatesAsDivision(t *testing.T) {
	values := []int64{math.MinInt64, math.MinInt64 + 1, math.MaxInt64, math.MaxInt64 - 1, 0, 1, -1, 3 << 61}
	for shift := range 62 {
		for _, near := range []int64{-1, 0, 1} {
			values = append(values, 1<<shift+near, -(1<<shift + near), (1<<shift+near)*3, 1<<shift/7+near)
		}
	}
	for _, by := range values {
		d, ok := divisorOf(by)
		require.Equal(t, by > 1 || by < -1, ok, "%d", by)
		if !ok {
			continue
		}
		for _, x := range values {
			for _, v := range []int64{x, x * by, x*by - 1} {
				if got := d.of(v); got != v/by {
					t.Fatalf("%d / %d: got %d", v, by, got)
				}
			}
		}
	}
}

func TestDividing_runsByOneNumber(t *testing.T) {
	dividing[int32]()(nil, nil, nil, 0, 1, 0)
	a := []int32{math.MinInt32, math.MinInt32 + 1, -8, -7, -6, -1, 0, 1, 6, 7, 8, math.MaxInt32}
	for _, by := range []int32{1, -1, 2, -3, 7, math.MaxInt32, math.MinInt32} {
		got := make([]int32, len(a))
		dividing[int32]()(mem.Bytes(got), mem.Bytes(a), mem.Bytes([]int32{by}), len(a), 1, 0)
		for i, v := range a {
			require.Equal(t, v/by, got[i], "%d / %d", v, by)
		}
	}
}
