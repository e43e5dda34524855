package kernel

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestGemmNT_edges(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		seed := uint64(0)
		for m := range 10 {
			for _, n := range []int{0, 1, 2, 3, 4, 5, 8, 13} {
				for _, k := range append(lengths(), 0) {
					if k > 70 && n != 13 {
						continue
					}
					seed++
					if seed%thinning != 0 {
						continue
					}
					lda, ldw, ldc := k+int(seed%3), k+int(seed%2), n+int(seed%4)
					a := newGuarded(extent(m, k, lda), int(seed))
					w := newGuarded(extent(n, k, ldw), int(seed/3))
					fillRand(rng(seed), a.data)
					fillRand(rng(seed+1), w.data)
					c := newGuarded(extent(m, n, ldc), int(seed))
					var bias []float32
					if seed%2 == 0 {
						bias = randSlice(seed, n)
					}
					act := []Act{{}, {Op: Relu}, {Op: Tanh}}[seed%3]
					GemmNT(c.data, ldc, a.data, lda, w.data, ldw, m, n, k, bias, act)
					c.check(t, "C")
					for i := range m {
						for j := range n {
							v, mag := 0.0, 1.0
							for p := range k {
								x := float64(a.data[i*lda+p]) * float64(w.data[j*ldw+p])
								v, mag = v+x, mag+math.Abs(x)
							}
							if bias != nil {
								v += float64(bias[j])
							}
							switch act.Op {
							case Relu:
								v = max(v, 0)
							case Tanh:
								v = math.Tanh(v)
							}
							require.InDelta(t, v, c.data[i*ldc+j], 1e-6*mag, "m %d n %d k %d at %d,%d", m, n, k, i, j)
						}
					}
				}
			}
		}
		assert.Panics(t, func() {
			GemmNT(make([]float32, 4), 4, make([]float32, 8), 8, make([]float32, 31), 8, 1, 4, 8, nil, Act{})
		})
	})
}

func BenchmarkGemmNT(b *testing.B) {
	benchISA(b, func(b *testing.B) {
		for _, s := range [][3]int{{1, 1024, 1024}, {4, 1024, 1024}, {1, 1000, 2048}, {1, 128, 128}} {
			m, n, k := s[0], s[1], s[2]
			b.Run(fmt.Sprintf("%dx%dx%d", m, n, k), func(b *testing.B) {
				a, w, c := Aligned[float32](m*k), Aligned[float32](n*k), Aligned[float32](m*n)
				fillRand(rng(1), a)
				fillRand(rng(2), w)
				report(b, 2*float64(m*n*k), func() { GemmNT(c, n, a, k, w, k, m, n, k, nil, Act{}) })
			})
		}
	})
}
