package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestBlockRows_multiply(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 4))
		for _, bits := range []int{4, 8} {
			for _, block := range []int{32, 64, 128} {
				for _, blocks := range []int{1, 2, 5} {
					const rows = 7
					c := BlockRows{Bits: bits, Block: block, Blocks: blocks}
					c.Data = make([]byte, rows*c.RowLen())
					n := block * blocks
					x, want := randSlice(uint64(n), n), make([]float64, rows)
					for row := range rows {
						scales, codes := randSlice(uint64(row), blocks), make([]byte, n)
						for i := range codes {
							codes[i] = byte(r.IntN(1 << bits))
							want[row] += float64(x[i]) * float64(int(codes[i])-(1<<(bits-1))) * float64(scales[i/block])
						}
						c.Pack(row, scales, codes)
					}
					for first := range rows {
						out := newGuarded(rows-first, first)
						c.Multiply(out.data, x, first)
						out.check(t, "Multiply")
						for k, got := range out.data {
							if w := want[first+k]; !(math.Abs(float64(got)-w) <= 2e-6*math.Exp2(float64(bits))*math.Sqrt(float64(n))) {
								t.Fatalf("%d bits, %d blocks of %d, row %d: got %v, want %v", bits, blocks, block, first+k, got, w)
							}
						}
					}
				}
			}
		}
	})
}
