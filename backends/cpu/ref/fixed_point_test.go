package ref

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// The tables come from conformance/vectors/integer_lstm.py.
func TestFixedPoint_tables(t *testing.T) {
	data, err := os.ReadFile("testdata/tables/fixed_point.json")
	require.NoError(t, err)
	var table struct {
		X              []int16
		Logistic, Tanh map[string][]int16
		Roots          [][3]int64
	}
	require.NoError(t, json.Unmarshal(data, &table))
	require.Len(t, table.Logistic, 7)
	require.Len(t, table.Tanh, 7)
	for name, f := range map[string]func(int16, int) int16{"logistic": logisticFixed, "tanh": tanhFixed} {
		for bits, want := range map[string]map[string][]int16{"logistic": table.Logistic, "tanh": table.Tanh}[name] {
			k, err := strconv.Atoi(bits)
			require.NoError(t, err)
			got := make([]int16, len(table.X))
			for i, x := range table.X {
				got[i] = f(x, k)
			}
			assert.Equal(t, want, got, "%s of %d integer bits", name, k)
		}
	}
	for _, r := range table.Roots {
		assert.Equal(t, fixedScale{int32(r[1]), int(r[2])}, inverseRoot(int32(r[0])), "%d", r[0])
	}
}

// Every number of 16 bits is near the function itself.
func TestFixedPoint_nearTheFunctions(t *testing.T) {
	logistic := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	for k := range 7 {
		unit := math.Ldexp(1, k-15)
		for x := math.MinInt16; x <= math.MaxInt16; x++ {
			if got := float64(tanhFixed(int16(x), k)) / 32768; math.Abs(got-math.Tanh(float64(x)*unit)) > 6e-4 {
				t.Fatalf("tanh of %v is %v", float64(x)*unit, got)
			}
			if k == 0 {
				continue
			}
			if got := float64(logisticFixed(int16(x), k)) / 32768; math.Abs(got-logistic(float64(x)*unit)) > 3e-4 {
				t.Fatalf("logistic of %v is %v", float64(x)*unit, got)
			}
		}
	}
	for v := int32(2); v > 0 && v < math.MaxInt32/2; v = v*3/2 + 1 {
		m := inverseRoot(v)
		assert.InEpsilon(t, 1/math.Sqrt(float64(v)), math.Ldexp(float64(m.mantissa), m.shift-31), 2e-6, "%d", v)
	}
}

func TestFixedPoint_halvesAndLimits(t *testing.T) {
	for _, c := range [][3]int32{{5, 1, 3}, {-5, 1, -3}, {6, 2, 2}, {-6, 2, -2}, {5, 2, 1}, {-5, 2, -1}, {7, 0, 7},
		{math.MaxInt32, 31, 1}, {math.MinInt32, 31, -1}, {1 << 30, 31, 1}, {-1 << 30, 31, -1}, {1<<30 - 1, 31, 0}} {
		assert.Equal(t, c[2], shiftRight(c[0], int(c[1])), "%v", c)
	}
	assert.Equal(t, int16(math.MaxInt16), highMul(math.MinInt16, math.MinInt16))
	assert.Equal(t, int32(math.MaxInt32), highMul32(math.MinInt32, math.MinInt32))
	assert.Equal(t, []int16{1, 0, 1, 0}, []int16{highMul(1<<14, 1), highMul(-1<<14, 1), highMul(3<<13, 1),
		highMul(1<<13, 1)}, "a half goes up")
	assert.Equal(t, int16(-1), highMul(-3<<13, 1))
	assert.Equal(t, []int16{math.MaxInt16, math.MinInt16, -32768, 32764}, []int16{shiftLeft(8192, 2), shiftLeft(-8193, 2),
		shiftLeft(-8192, 2), shiftLeft(8191, 2)})
	assert.Equal(t, fixedScale{1 << 30, 1}, newFixedScale(1))
	assert.Equal(t, fixedScale{1 << 30, 1}, newFixedScale(math.Nextafter(1, 0)), "rounds up to the next power of two")
	assert.Equal(t, fixedScale{}, newFixedScale(math.Ldexp(1, -33)))
	assert.Equal(t, fixedScale{1 << 30, -31}, newFixedScale(math.Ldexp(1, -32)))
	for _, v := range []float64{0, -1, math.NaN()} {
		assert.Equal(t, fixedScale{}, newFixedScale(v))
	}
}

// steps returns real numbers as codes.
func steps16(d tensor.DType, scale float32, zero int32, v []float64, dims ...int64) tensor.Tensor {
	x := tensor.New(d, dims...)
	lo, hi, _ := intRange(d)
	for i, r := range v {
		storeInt(x, i, quantize(r, float64(scale), float64(zero), lo, hi))
	}
	return quant(x, scale, zero)
}

// The integer layers are near the real one, on numbers between the limits of their types.
func TestQuantizedLSTM_nearTheRealOne(t *testing.T) {
	const batch, features, units = 3, 6, 5
	wave := func(n int, step float64) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = math.Sin(float64(i)*step + step)
		}
		return v
	}
	i8, u8, i16, i32 := tensor.Int8, tensor.Uint8, tensor.Int16, tensor.Int32
	for name, c := range map[string]struct {
		narrow  tensor.DType
		zero    int32
		weights int32
	}{"16 bit": {u8, 128, 120}, "8 bit": {i8, 0, 0}} {
		const state, weight = 1. / 128, 1. / 256
		x := steps16(c.narrow, state, c.zero, wave(batch*features, 0.7), batch, features)
		h := steps16(c.narrow, state, c.zero, wave(batch*units, 1.1), batch, units)
		cell := steps16(i16, 1./2048, 0, wave(batch*units, 1.9), batch, units)
		var w, r, b []tensor.Tensor
		for g := range 4 {
			half := func(v []float64) []float64 {
				for i := range v {
					v[i] /= 2.2
				}
				return v
			}
			w = append(w, steps16(c.narrow, weight, c.weights, half(wave(units*features, 0.3+float64(g))), units, features))
			r = append(r, steps16(c.narrow, weight, c.weights, half(wave(units*units, 0.9+float64(g))), units, units))
			b = append(b, steps16(i32, weight*state, 0, wave(units, 0.4+float64(g)), units))
		}
		joined := func(parts []tensor.Tensor, dims ...int64) tensor.Tensor {
			var v []float64
			for _, p := range parts {
				real, err := toReal(p)
				require.NoError(t, err)
				v = append(v, reals(real)...)
			}
			return floats(tensor.Float64, v, dims...)
		}
		real := func(p tensor.Tensor, dims ...int64) tensor.Tensor { return joined([]tensor.Tensor{p}, dims...) }
		wx, wh := joined(w, 1, 4*units, features), joined(r, 1, 4*units, units)
		if c.narrow == u8 { // the columns of the state, then those of x, meet x, then the state
			a, b := view[float64](wx), view[float64](wh)
			for row := range 4 * units {
				all := append(slices.Clone(b[row*units:][:units]), a[row*features:][:features]...)
				copy(a[row*features:][:features], all)
				copy(b[row*units:][:units], all[features:])
			}
		}
		want, err := Compute(&op.LSTM{Gates: op.GatesIFCO}, []tensor.Tensor{real(x, 1, batch, features), wx, wh,
			joined(append(b, tensor.New(i32, units), tensor.New(i32, units), tensor.New(i32, units), tensor.New(i32, units)),
				1, 8*units), {}, real(h, 1, batch, units), real(cell, 1, batch, units)}, make([]tensor.Type, 3))
		require.NoError(t, err)
		in := append(append(append([]tensor.Tensor{x}, w...), r...), b...)
		var got []tensor.Tensor
		if c.narrow == u8 {
			got, err = Compute(&op.Quantized16BitLSTM{}, append(in, cell, h), make([]tensor.Type, 2))
			if err == nil {
				got[0], got[1] = got[1], got[0]
			}
		} else {
			o := &op.QuantizedLSTM{Intermediate: []float32{1. / 4096, 1. / 4096, 1. / 4096, 1. / 4096}, HiddenScale: state}
			in = append(append([]tensor.Tensor{x}, w...), r...)
			in = append(append(append(in, make([]tensor.Tensor, 3)...), b...), tensor.Tensor{}, tensor.Tensor{}, h, cell)
			got, err = Compute(o, in, make([]tensor.Type, 2))
		}
		require.NoError(t, err, name)
		for i, within := range []float64{1.1 * state, 4. / 2048} {
			y, err := toReal(got[i])
			require.NoError(t, err)
			assert.InDeltaSlice(t, reals(want[1+i]), reals(y), within, "%s: output %d", name, i)
		}
	}
}
