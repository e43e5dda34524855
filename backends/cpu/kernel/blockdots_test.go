package kernel

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBlockDots_multiply(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		r := rng(5)
		for _, bits := range []int{4, 8} {
			for _, block := range []int{32, 64, 128} {
				for _, digits := range []int{2, 3} {
					d := BlockDots{Bits: bits, Block: block, Blocks: 3, Digits: digits}
					if !d.Fast() {
						continue
					}
					const cols, rows = 37, 7
					depth := block * d.Blocks
					w, codes, scales := make([]byte, d.Panels(cols)*d.PanelLen()), make([]byte, depth), make([]float32, d.Blocks)
					var weights [cols][]float64
					for c := range cols {
						for k := range codes {
							codes[k] = byte(r.IntN(1 << bits))
							if c%5 == 0 {
								codes[k] = byte((1<<bits - 1) * (k % 2)) // the largest ones
							}
						}
						for b := range scales {
							scales[b] = r.Float32() - 0.5
						}
						d.Pack(w, c, scales, codes)
						for k, v := range codes {
							weights[c] = append(weights[c], float64(int(v)-1<<(bits-1))*float64(scales[k/block]))
						}
					}
					x := randSlice(uint64(bits+block), rows*depth)
					for k := range depth {
						x[depth+k] *= 1000 * float32(k%2)         // zeros, and large ones
						x[2*depth+k] = 3e38 * float32(1-2*(k%2))  // all as large as can be
						x[3*depth+k] = 0x1p-140 * float32(k%3)    // too small for a reciprocal
						x[4*depth+k] = 0                          // nothing
						x[5*depth+k] = float32(k%block) - x[k]/16 // whole numbers, nearly
					}
					a := make([]byte, rows*d.RowLen())
					for i := range rows {
						require.True(t, d.Prepare(a[i*d.RowLen():], x[i*depth:][:depth]))
					}
					out := newGuarded(rows*cols, 3)
					d.Multiply(out.data, cols, cols, a, rows, w, 0)
					out.check(t, "Multiply")
					plain := make([]float32, cols)
					for i := range rows {
						d.MultiplyFloats(plain, x[i*depth:], w, 0, nil)
						for c := range cols {
							want, reach := 0.0, 0.0
							for k, v := range weights[c] {
								largest := 0.0
								for _, u := range x[i*depth+k/block*block:][:block] {
									largest = max(largest, math.Abs(float64(u)))
								}
								want += v * float64(x[i*depth+k])
								reach += math.Abs(v) * largest
							}
							off := reach*math.Exp2(float64(1-8*digits)) + 0x1p-100
							if i == 2 { // sums may overflow
								continue
							}
							if got := float64(out.data[i*cols+c]); !(math.Abs(got-want) <= off) {
								t.Fatalf("%d bits, %d digits, blocks of %d, row %d, column %d: got %v, want %v within %v", bits, digits,
									block, i, c, got, want, off)
							}
							require.InDelta(t, want, plain[c], 1e-6*reach+0x1p-100)
						}
					}
					x[7] = inf32
					require.False(t, d.Prepare(a, x[:depth]))
					x[7] = float32(math.NaN())
					require.False(t, d.Prepare(a, x[:depth]))
					part := make([]float32, 5)
					d.Multiply(part, 5, 5, a[3*d.RowLen():], 1, w, 32)
					require.Equal(t, out.data[3*cols+32:][:5], part, "the last panel")
				}
			}
		}
	})
}

// The digits of every number that a block can have give the number.
func TestBlockDots_digits(t *testing.T) {
	for _, digits := range []int{2, 3} {
		d := BlockDots{Bits: 4, Block: 32, Blocks: 1, Digits: digits}
		row, x := make([]byte, d.RowLen()), make([]float32, 32)
		most := 127 << (8 * (digits - 1))
		x[0] = float32(most)
		for n := -most; n <= most; n += 1 + n&255*(digits-2)*7 {
			x[1] = float32(n)
			require.True(t, d.Prepare(row, x))
			got := 0
			for k := range digits {
				got = got<<8 + int(int8(row[4+4*digits+32*k+1]))
			}
			if got != n {
				t.Fatalf("%d digits: %d, want %d", digits, got, n)
			}
		}
	}
}
