package ref

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

var allFloats = []tensor.DType{tensor.Float16, tensor.Float32, tensor.Float64, tensor.BFloat16, tensor.Float8E4M3FN,
	tensor.Float8E4M3FNUZ,
	tensor.Float8E5M2, tensor.Float8E5M2FNUZ, tensor.Float4E2M1, tensor.Float6E2M3, tensor.Float6E3M2}

var allInts = []tensor.DType{tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64, tensor.Uint8, tensor.Uint16,
	tensor.Uint32, tensor.Uint64,
	tensor.Int4, tensor.Uint4, tensor.Int2, tensor.Uint2}

// wrapped is v modulo 2^bits in the range of d, by arbitrary precision.
func wrapped(v *big.Int, d tensor.DType) int64 {
	m := new(big.Int).Lsh(big.NewInt(1), uint(d.Bits()))
	r := new(big.Int).Mod(v, m)
	if d.IsSigned() && r.Cmp(new(big.Int).Rsh(m, 1)) >= 0 {
		r.Sub(r, m)
	}
	return stored(r)
}

// stored is the int64 of the bits of a number that fits into 64 bits, signed or unsigned.
func stored(v *big.Int) int64 {
	if v.Sign() < 0 {
		return v.Int64()
	}
	return int64(v.Uint64())
}

// clamped is v limited to the range of d, by arbitrary precision.
func clamped(v *big.Int, d tensor.DType) int64 {
	lo, hi := new(big.Int), new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(d.Bits())), big.NewInt(1))
	if d.IsSigned() {
		hi.Rsh(hi, 1)
		lo.Not(hi)
	}
	switch {
	case v.Cmp(lo) < 0:
		v = lo
	case v.Cmp(hi) > 0:
		v = hi
	}
	return stored(v)
}

func TestCast_floatToInteger(t *testing.T) {
	x := []float64{0, 0.9, -0.9, 1.5, -1.5, 127.9, 128, -129, 255, 256, 300.7, 65536, -32769, 2147483648, -2147483649,
		1e18, 9223372036854775808, 18446744073709549568, 1e20, -1e20}
	in := floats(tensor.Float64, x)
	for _, d := range allInts {
		var wrap, clamp []int64
		for _, v := range x {
			i, _ := big.NewFloat(v).Int(nil) // truncates
			wrap, clamp = append(wrap, wrapped(i, d)), append(clamp, clamped(i, d))
		}
		y := run(t, &op.Cast{To: d}, in)
		assert.Equal(t, d, y.DType)
		assert.Equal(t, wrap, intValues(t, y), "%v wraps", d)
		assert.Equal(t, clamp, intValues(t, run(t, &op.Cast{To: d, OutOfRange: op.CastSaturate}, in)), "%v saturates", d)
		special := floats(tensor.Float32, []float64{nan, inf, -inf})
		assert.Equal(t, []int64{0, 0, 0}, intValues(t, run(t, &op.Cast{To: d}, special)))
		lo, hi := tensor.IntLimits(d)
		if d == tensor.Uint64 {
			hi = -1
		}
		assert.Equal(t, []int64{0, hi, lo}, intValues(t, run(t, &op.Cast{To: d, OutOfRange: op.CastSaturate}, special)))
	}
}

func TestCast_betweenIntegers(t *testing.T) {
	x := []int64{0, 1, -1, 7, 8, -8, -9, 15, 16, 127, 128, 200, -200, 40000, 1 << 31, 1 << 40, math.MaxInt64,
		math.MinInt64}
	for _, from := range allInts {
		in := ints(from, x)
		for _, to := range allInts {
			var wrap, clamp []int64
			for _, v := range intValues(t, in) {
				b := big.NewInt(v)
				if from == tensor.Uint64 {
					b.SetUint64(uint64(v))
				}
				wrap, clamp = append(wrap, wrapped(b, to)), append(clamp, clamped(b, to))
			}
			assert.Equal(t, wrap, intValues(t, run(t, &op.Cast{To: to}, in)), "%v to %v wraps", from, to)
			assert.Equal(t, clamp, intValues(t, run(t, &op.Cast{To: to, OutOfRange: op.CastSaturate}, in)), "%v to %v saturates",
				from, to)
		}
	}
}

func TestCast_bool(t *testing.T) {
	for _, d := range allFloats {
		in := floats(d, []float64{0, 1, -0.5, math.Copysign(0, -1)})
		assert.Equal(t, []int64{0, 1, 1, 0}, intValues(t, run(t, &op.Cast{To: tensor.Bool}, in)), "%v", d)
		assert.Equal(t, []float64{0, 1}, values(t, run(t, &op.Cast{To: d}, ints(tensor.Bool, []int64{0, 1}))), "%v", d)
	}
	for _, d := range allInts {
		assert.Equal(t, []int64{0, 1, 1}, intValues(t, run(t, &op.Cast{To: tensor.Bool}, ints(d, []int64{0, 1, -1}))), "%v",
			d)
		assert.Equal(t, []int64{0, 1}, intValues(t, run(t, &op.Cast{To: d}, ints(tensor.Bool, []int64{0, 1}))), "%v", d)
	}
	assert.Equal(t, []int64{1}, intValues(t, run(t, &op.Cast{To: tensor.Bool}, floats(tensor.Float32, []float64{nan}))),
		"NaN is true")
}

// Integers become the nearest float in one rounding, also where float64 lies between.
func TestCast_integerToFloat(t *testing.T) {
	for _, d := range []tensor.DType{tensor.Float64, tensor.Float32, tensor.BFloat16, tensor.Float16} {
		prec := map[tensor.DType]uint{tensor.Float64: 53, tensor.Float32: 24, tensor.BFloat16: 8, tensor.Float16: 11}[d]
		for _, v := range []int64{0, 1, -3, 257, 2049, 2051, 16777217, 1<<53 + 1, 1<<62 + 1<<54 + 1, 1<<62 + 1<<38 + 1,
			1<<62 + 1<<38 - 1, math.MaxInt64, math.MinInt64} {
			f := new(big.Float).SetPrec(prec).SetMode(big.ToNearestEven).SetInt64(v)
			want, _ := f.Float64()
			if d == tensor.Float16 && math.Abs(want) > 65504 {
				want = math.Copysign(inf, want)
			}
			assert.Equal(t, []float64{want}, values(t, run(t, &op.Cast{To: d}, ints(tensor.Int64, []int64{v}))), "%d to %v", v,
				d)
		}
		f := new(big.Float).SetPrec(prec).SetUint64(1<<63 + 1<<55 + 1)
		want, _ := f.Float64()
		if d == tensor.Float16 {
			want = inf
		}
		assert.Equal(t, []float64{want}, values(t,
			run(t, &op.Cast{To: d}, ints(tensor.Uint64, []int64{math.MinInt64 + 1<<55 + 1}))), "uint64 to %v", d)
	}
}

func TestCast_betweenFloats(t *testing.T) {
	for _, from := range allFloats {
		for _, to := range allFloats {
			x := []float64{0, 0.5, 1, -1.5, 2, 3, -6}
			y := run(t, &op.Cast{To: to, Saturate: true}, floats(from, x))
			assert.Equal(t, x, values(t, y), "%v to %v", from, to)
		}
	}
	big := floats(tensor.Float32, []float64{1e6, -1e6})
	assertReals(t, []float64{448, -448}, values(t, run(t, &op.Cast{To: tensor.Float8E4M3FN, Saturate: true}, big)), 0,
		"saturates")
	assertReals(t, []float64{nan, nan}, values(t, run(t, &op.Cast{To: tensor.Float8E4M3FN}, big)), 0, "has no infinity")
	assertReals(t, []float64{inf, -inf}, values(t, run(t, &op.Cast{To: tensor.Float8E5M2}, big)), 0, "has infinity")
	assertReals(t, []float64{inf, -inf}, values(t, run(t, &op.Cast{To: tensor.Float16, Saturate: true}, big)), 0,
		"float16 never saturates")
}

// Powers decides only about the type that has nothing else.
func TestCast_toPowersOfTwo(t *testing.T) {
	x := floats(tensor.Float32, []float64{0, 1, 1.25, 1.5, 3, -5, 1e-45, inf})
	for rule, want := range [][]float64{{0x1p-127, 1, 2, 2, 4, 8, 0x1p-127, 0x1p127},
		{0x1p-127, 1, 1, 2, 4, 4, 0x1p-127, 0x1p127}, {0x1p-127, 1, 1, 1, 2, 4, 0x1p-127, 0x1p127}} {
		o := &op.Cast{To: tensor.Float8E8M0, Saturate: true, Powers: tensor.PowerRule(rule)}
		assert.Equal(t, want, values(t, run(t, o, x)), "rule %d", rule)
		want[0], want[6], want[7] = nan, nan, nan
		o.Saturate = false
		assertReals(t, want, values(t, run(t, o, x)), 0, "does not saturate")
	}
	y := run(t, &op.Cast{To: tensor.Float8E8M0}, ints(tensor.Int64, []int64{1, 3, 1<<62 + 1}))
	assert.Equal(t, []float64{1, 4, 0x1p63}, values(t, y))
	assert.Equal(t, []float64{1, 4, inf}, values(t, run(t, &op.Cast{To: tensor.Float16}, y)))
	_, err := Compute(&op.Cast{To: tensor.Float8E8M0, Powers: 3}, []tensor.Tensor{x}, make([]tensor.Type, 1))
	assert.Equal(t, fault.Argument, fault.KindOf(err))
}

func TestCast_ignoresQuantizationAndRejects(t *testing.T) {
	x := quant(ints(tensor.Int8, []int64{-3, 5}), 0.25, 7)
	assert.Equal(t, []float64{-3, 5}, values(t, run(t, &op.Cast{To: tensor.Float32}, x)))
	q := tensor.PerTensor(2, 1)
	y, err := Compute(&op.Cast{To: tensor.Uint8}, []tensor.Tensor{x}, []tensor.Type{{DType: tensor.Uint8, Quant: q}})
	require.NoError(t, err)
	assert.Equal(t, []int64{253, 5}, intValues(t, y[0]))
	assert.Equal(t, q, y[0].Quant)
	for _, o := range []*op.Cast{{}, {To: tensor.Complex64}, {To: 99}} {
		_, err := Compute(o, []tensor.Tensor{x}, make([]tensor.Type, 1))
		assert.Equal(t, fault.Type, fault.KindOf(err))
	}
	_, err = Compute(&op.Cast{To: tensor.Int8, OutOfRange: 2}, []tensor.Tensor{x}, make([]tensor.Type, 1))
	assert.Equal(t, fault.Argument, fault.KindOf(err))
	_, err = Compute(&op.Cast{To: tensor.Int8}, []tensor.Tensor{tensor.New(tensor.Complex64, 1)}, make([]tensor.Type, 1))
	assert.ErrorContains(t, err, "input 0: want a real, integer or bool type, got complex64")
}

func TestConvert_betweenRepresentations(t *testing.T) {
	conv := func(x tensor.Tensor, to tensor.Type) tensor.Tensor {
		y, err := Compute(&op.Convert{}, []tensor.Tensor{x}, []tensor.Type{to})
		require.NoError(t, err)
		return y[0]
	}
	q := tensor.Type{DType: tensor.Int8, Quant: tensor.PerTensor(0.5, -3)}
	x := floats(tensor.Float32, []float64{0, 1.25, -1.25, 0.2, 1e9, -1e9, nan, inf})
	y := conv(x, q)
	assert.Equal(t, []int64{-3, -1, -6, -3, 127, -128, -3, 127}, intValues(t, y), "-0.5 and -5.5 away from zero")
	assert.Equal(t, []float64{0, 1, -1.5, 0, 65, -62.5, 0, 65}, values(t, conv(y, tensor.Type{DType: tensor.Float16})))
	assert.Equal(t, []float64{0, 1, -1.5, 0, 65, -62.5, 0, 65}, values(t, conv(y, tensor.Type{DType: tensor.Float32})))
	// int8 to uint8 of the same scale with a zero point 128 higher: the numbers move by 128.
	u := conv(y, tensor.Type{DType: tensor.Uint8, Quant: tensor.PerTensor(0.5, 125)})
	assert.Equal(t, []int64{125, 127, 122, 125, 255, 0, 125, 255}, intValues(t, u))
	// per axis: each column its own scale
	pa := conv(floats(tensor.Float32, []float64{1, 1, 2, 2}, 2, 2), tensor.Type{DType: tensor.Int16,
		Quant: &tensor.Quant{Scale: []float32{0.5, 0.25}, Axis: 1}})
	assert.Equal(t, []int64{2, 4, 4, 8}, intValues(t, pa))
	assert.Equal(t, []float64{1, 1, 2, 2}, values(t, conv(pa, tensor.Type{DType: tensor.Float64}))[0:4])
	assert.Equal(t, []float64{1.5}, values(t, run(t, &op.Convert{}, floats(tensor.Float32, []float64{1.5}))),
		"nothing declared")
	_, err := Compute(&op.Convert{}, []tensor.Tensor{x}, []tensor.Type{{DType: tensor.Int32}})
	assert.ErrorContains(t, err, "output: want a float or quantized type, got int32")
	_, err = Compute(&op.Convert{}, []tensor.Tensor{ints(tensor.Int8, []int64{1})}, []tensor.Type{q})
	assert.ErrorContains(t, err, "input 0: want a float or quantized type, got int8")
}
