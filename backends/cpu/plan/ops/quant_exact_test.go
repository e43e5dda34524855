package ops

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/core/tensor"
)

// quantType is a type of the given scale and zero point.
func quantType(d tensor.DType, scale float32, zero int32) tensor.Type {
	return tensor.Type{DType: d, Quant: &tensor.Quant{Scale: []float32{scale}, Zero: []int32{zero}}}
}

// Every result of requantizing is the definition's, those that are close to a half included.
func TestRequantized_halves(t *testing.T) {
	const u8, i8 = tensor.Uint8, tensor.Int8
	for _, isa := range kernel.Supported() {
		restore, err := kernel.Select(isa)
		require.NoError(t, err)
		for _, scale := range []float64{0.5, 0.25, 0.1, 1. / 3, 0.007, 4000} {
			for _, offset := range []float64{0, scale / 2, -77.7, 3e4, 1e9} {
				for _, typ := range []tensor.Type{quantType(u8, 1, 3), quantType(i8, 0.5, -100), quantType(u8, 0.1, 255),
					quantType(i8, 0.25, 300)} {
					q := newRequantized(ir.QuantParamsOfType(typ), []float64{scale, scale * 1.1, scale}, []float64{offset, -offset, 0})
					got, sums, work := make([]byte, 3*q.rows), make([]float32, 3*q.rows), make([]float32, q.work())
					for first := -5000; first <= 5000; first += len(sums) {
						for i := range sums {
							sums[i] = float32(first + i)
						}
						if offset != 0 && first%2 == 0 { // around what the offset makes 0
							for i := range sums {
								sums[i] -= float32(math.Round(max(-1<<23, min(1<<23, []float64{offset, -offset, 0}[i%3]/q.scale[i%3]))))
							}
						}
						q.store(got, sums, work)
						for i, s := range sums {
							if want := q.exactly(float64(s), i%3); got[i] != want {
								require.Fail(t, "differs", fmt.Sprintf("sum %v, scale %v, offset %v: want %d, got %d", s, scale, offset, want,
									got[i]))
							}
						}
					}
				}
			}
		}
		restore()
	}
}

// The kernel makes the code of each sum by definition, for scales of all sizes, with halves and biases that are no
// multiples of a unit.
func TestRequantized_fit(t *testing.T) {
	const u8, i8 = tensor.Uint8, tensor.Int8
	random := rand.New(rand.NewPCG(1, 2))
	fitted := 0
	cases := 90
	if testing.Short() {
		cases = 15
	}
	for i := range cases {
		typ := []tensor.Type{quantType(u8, 0.37, 0), quantType(i8, 0.011, -128), quantType(u8, 1, 131),
			quantType(i8, 0.5, 0)}[i%4]
		step := float64(typ.Quant.Scale[0])
		unit := step * math.Exp2(-random.Float64()*11)
		if i%5 == 0 {
			unit = step / float64(int(1)<<(i%7))
		}
		offset := unit * float64(random.IntN(20001)-10000)
		if i%6 == 1 {
			offset += unit / 3
		}
		q := newRequantized(ir.QuantParamsOfType(typ), []float64{unit}, []float64{offset})
		reach := 30000.0
		f, ok := q.fit(0, reach, nil)
		if !ok {
			continue
		}
		fitted++
		c := ir.QuantParamsOfType(typ)
		g := kernel.GemmInt8{M: 1, N: 1, K: 4, LDA: 4, LDC: 1, A: make([]byte, 4), C: make([]byte, 1),
			B: make([]int8, kernel.PackedInt8Len(1, 4, 1)), Post: kernel.Requantize{Zero: int(c.Zero), Hi: 255,
				Init: make([]int32, 1), Scale: []float32{f.scale}, Add: []float32{f.add}, Low: []float32{f.low}}}
		g.Plan(1)
		for s := -int32(reach); s <= int32(reach); s += 1 + s&1*int32(random.IntN(3)) {
			g.Post.Init[0] = s + f.init
			g.Chunk(0)
			want := q.exactly(float64(s), 0)
			if typ.DType == i8 {
				want += 128
			}
			if g.C[0] != want {
				t.Fatalf("unit %v, offset %v, %v, sum %d: got %d, want %d", unit, offset, typ, s, g.C[0], want)
			}
		}
	}
	assert.Greater(t, fitted, cases*5/6)
}
