package ops

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
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

func TestDividing_equalsDivision(t *testing.T) {
	loop := divisions(tensor.Int64, divides, false)
	loop(nil, nil, nil, 0, 1, 0)
	a := []int64{math.MinInt64, math.MinInt64 + 1, -8, -7, -6, -1, 0, 1, 6, 7, 8, math.MaxInt64, 1 << 51, 1<<51 - 1}
	for len(a) < 5000 { // several blocks of a kernel, of which some have large numbers
		a = append(a, int64(len(a))*int64(len(a)%2000/1999*(1<<40)+1))
	}
	got := make([]int64, len(a))
	for _, by := range []int64{1, -1, 2, -3, 7, math.MaxInt64, math.MinInt64, 1 << 51} {
		loop(mem.Bytes(got), mem.Bytes(a), mem.Bytes([]int64{by}), len(a), 1, 0)
		for i, v := range a {
			require.Equal(t, v/by, got[i], "%d / %d", v, by)
		}
		if by == -1 {
			continue
		}
		divisions(tensor.Int64, remains, true)(mem.Bytes(got), mem.Bytes(a), mem.Bytes([]int64{by}), len(a), 1, 0)
		for i, v := range a {
			w := v % by
			if w != 0 && (w < 0) != (by < 0) {
				w += by
			}
			require.Equal(t, w, got[i], "%d mod %d", v, by)
		}
	}
	b := make([]int64, len(a))
	for i := range b {
		b[i] = int64(i%7 - 3)
		if b[i] == 0 {
			b[i] = 1 << 60
		}
	}
	loop(mem.Bytes(got), mem.Bytes(a), mem.Bytes(b), len(a), 1, 1)
	for i, v := range a {
		require.Equal(t, v/b[i], got[i], "%d / %d", v, b[i])
	}
}
