package kernel

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestJoint_equalsSingleProducts(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		for seed, c := range []struct{ m, k, threads int }{{0, 5, 1}, {1, 40, 2}, {3, 517, 3}, {70, 64, 1}, {70, 64, 3},
			{601, 33, 2}, {130, 0, 1}, {1200, 130, 1}, {1200, 130, 2}} {
			a := randSlice(uint64(seed), c.m*(c.k+3)+1)
			j := Joint{Parts: make([]Gemm, 4)}
			var want, got []*guarded
			for i, n := range []int{33, 64, 7, 100} {
				b := make([]float32, PackedLen(c.k, n))
				PackB(b, randSlice(uint64(seed+i+1), c.k*n+1), c.k, n, n)
				g := Gemm{M: c.m, N: n, K: c.k, A: a, LDA: c.k + 3, B: b, LDC: n + i, LDR: n}
				switch i {
				case 1:
					g.Bias, g.Act = randSlice(7, n), Act{Op: Relu}
				case 2:
					g.Res, g.ResAfter, g.Act = randSlice(8, c.m*n), true, Act{Op: SiLU}
				}
				want, got = append(want, newGuarded(extent(c.m, n, n+i), i)), append(got, newGuarded(extent(c.m, n, n+i), i))
				g.C = want[i].data
				g.Run()
				g.C = got[i].data
				j.Parts[i] = g
			}
			if c.threads == 1 {
				j.Run()
			} else {
				for i := j.Plan(c.threads) - 1; i >= 0; i-- {
					j.Chunk(i)
				}
			}
			for i := range want {
				got[i].check(t, "C")
				for k, w := range want[i].data {
					if same(w, got[i].data[k], false) {
						continue
					}
					require.InDelta(t, w, got[i].data[k], 1e-4, "case %d, part %d, value %d", seed, i, k)
				}
			}
		}
	})
}

func TestJoint_partsThatDifferPanic(t *testing.T) {
	one := Gemm{M: 2, N: 1, K: 2, A: make([]float32, 4), LDA: 2, B: make([]float32, PackedLen(2, 1)),
		C: make([]float32, 2), LDC: 1}
	two := one
	two.M = 1
	assert.PanicsWithValue(t, "kernel: Joint: part 1: M=1 K=2 LDA=2, part 0: M=2 K=2 LDA=2",
		func() { (&Joint{Parts: []Gemm{one, two}}).Plan(1) })
}
