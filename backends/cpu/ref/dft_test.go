package ref

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// Sums as the definition has them, for lengths of every kind: even, odd, prime, with large factors.
func TestDFT_equalsTheSums(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 30, 64, 97, 101, 134, 202} {
		for _, parts := range []int{1, 2} {
			const lines = 3
			x := make([]float32, lines*n*parts)
			for i := range x {
				x[i] = r.Float32()*2 - 1
			}
			in := []tensor.Tensor{{DType: tensor.Float32, Dims: []int64{lines, int64(n), int64(parts)}, Data: mem.Bytes(x)}}
			for _, half := range []bool{false, true} {
				bins := n
				if half {
					bins = n/2 + 1
				}
				if half && parts == 2 {
					continue
				}
				out := []tensor.Type{tensor.T(tensor.Float32, lines, int64(bins), 2)}
				y, err := Compute(&op.DFT{OneSided: half}, in, out)
				require.NoError(t, err)
				got := mem.Elements[float32](y[0].Data)
				for line := range lines {
					for k := range bins {
						want := complex128(0)
						for i := range n {
							at := (line*n + i) * parts
							v := complex(float64(x[at]), 0)
							if parts == 2 {
								v = complex(float64(x[at]), float64(x[at+1]))
							}
							want += v * cmplx.Rect(1, -2*math.Pi*float64(k*i%n)/float64(n))
						}
						at := 2 * (line*bins + k)
						require.InDelta(t, real(want), got[at], 1e-5, "%d of %d", k, n)
						require.InDelta(t, imag(want), got[at+1], 1e-5, "%d of %d", k, n)
					}
				}
			}
		}
	}
}
