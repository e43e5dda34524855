package tensor

import (
	"math"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// format restates the published layout of a small float: exponent and mantissa widths, bias, and which codes are
// special.
type format struct {
	d         DType
	exp, man  int
	bias      int
	codes     int
	inf, nans func(mag int, negative bool) bool
}

func never(int, bool) bool { return false }

var formats = []format{
	{Float8E4M3FN, 4, 3, 7, 256, never, func(m int, _ bool) bool { return m == 0x7f }},
	{Float8E4M3FNUZ, 4, 3, 8, 256, never, func(m int, neg bool) bool { return m == 0 && neg }},
	{Float8E5M2, 5, 2, 15, 256, func(m int, _ bool) bool { return m == 0x7c },
		func(m int, _ bool) bool { return m > 0x7c }},
	{Float8E5M2FNUZ, 5, 2, 16, 256, never, func(m int, neg bool) bool { return m == 0 && neg }},
	{Float4E2M1, 2, 1, 1, 16, never, never},
	{Float6E2M3, 2, 3, 1, 64, never, never},
	{Float6E3M2, 3, 2, 3, 64, never, never},
}

// magnitude is the value of code mag by the definition, continued beyond the special codes.
func (f format) magnitude(mag int) float64 {
	e, m := mag>>f.man, mag&(1<<f.man-1)
	frac := float64(m) / float64(int(1)<<f.man)
	if e == 0 {
		return frac * math.Pow(2, float64(1-f.bias))
	}
	return (1 + frac) * math.Pow(2, float64(e-f.bias))
}

func (f format) largest() int {
	m := f.codes/2 - 1
	for f.inf(m, false) || f.nans(m, false) {
		m--
	}
	return m
}

func TestSmallFloatTo32_everyCode(t *testing.T) {
	for _, f := range formats {
		for code := range f.codes {
			mag, neg := code&(f.codes/2-1), code >= f.codes/2
			got := float64(SmallFloatTo32(f.d, uint8(code)))
			want := f.magnitude(mag)
			switch {
			case f.nans(mag, neg):
				require.True(t, math.IsNaN(got), "%v %02x", f.d, code)
				continue
			case f.inf(mag, neg):
				want = math.Inf(1)
			}
			if neg {
				want = -want
			}
			require.Equal(t, want, got, "%v %02x", f.d, code)
			require.Equal(t, math.Signbit(want), math.Signbit(got), "%v %02x", f.d, code)
			require.Equal(t, uint8(code), Float32ToSmall(f.d, float32(got), false), "%v %02x back", f.d, code)
		}
	}
	assert.Equal(t, float32(448), SmallFloatTo32(Float8E4M3FN, 0x7e))
	assert.Equal(t, float32(240), SmallFloatTo32(Float8E4M3FNUZ, 0x7f))
	assert.Equal(t, float32(57344), SmallFloatTo32(Float8E5M2, 0x7b))
	assert.Equal(t, float32(57344), SmallFloatTo32(Float8E5M2FNUZ, 0x7f))
	assert.Equal(t, float32(6), SmallFloatTo32(Float4E2M1, 7))
	assert.Equal(t, float32(7.5), SmallFloatTo32(Float6E2M3, 0x1f))
	assert.Equal(t, float32(28), SmallFloatTo32(Float6E3M2, 0x1f))
	assert.True(t, math.IsNaN(float64(SmallFloatTo32(Float32, 1))))
}

// Rounding against a search over all codes: the nearest magnitude, the even code of two equally near ones.
func TestFloat32ToSmall_nearestEven(t *testing.T) {
	rnd := rand.New(rand.NewSource(3))
	for _, f := range formats {
		top := f.largest()
		var xs []float32
		for c := range top + 1 {
			a, b := f.magnitude(c), f.magnitude(c+1)
			mid := float32((a + b) / 2)
			xs = append(xs, float32(a), mid, math.Nextafter32(mid, 0), math.Nextafter32(mid, math.MaxFloat32))
		}
		for range 2000 {
			xs = append(xs, float32(math.Exp(rnd.NormFloat64()*5)))
		}
		for _, x := range xs {
			best := 0
			for c := range top + 2 {
				d, e := math.Abs(f.magnitude(c)-float64(x)), math.Abs(f.magnitude(best)-float64(x))
				if d < e || d == e && c&1 == 0 {
					best = c
				}
			}
			for _, saturate := range []bool{false, true} {
				got := Float32ToSmall(f.d, x, saturate)
				switch {
				case best <= top:
					require.Equal(t, uint8(best), got, "%v of %v", f.d, x)
				case saturate || f.codes < 256:
					require.Equal(t, uint8(top), got, "%v of %v", f.d, x)
				case f.d == Float8E5M2:
					require.Equal(t, uint8(0x7c), got, "%v of %v", f.d, x)
				default:
					require.True(t, math.IsNaN(float64(SmallFloatTo32(f.d, got))), "%v of %v: %02x", f.d, x, got)
				}
				neg := Float32ToSmall(f.d, -x, saturate)
				v, w := SmallFloatTo32(f.d, got), SmallFloatTo32(f.d, neg)
				require.True(t, v == -w || v != v && w != w, "%v of %v: %v and %v", f.d, x, v, w)
			}
		}
	}
}

// The table of ONNX Cast for zeros, infinities and NaN; the columns are the four float8 types as they are numbered.
func TestFloat32ToSmall_specialValues(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	zero := float32(math.Copysign(0, -1))
	for i, d := range []DType{Float8E4M3FN, Float8E4M3FNUZ, Float8E5M2, Float8E5M2FNUZ} {
		assert.Equal(t, []uint8{0x80, 0, 0x80, 0}[i], Float32ToSmall(d, zero, true), "%v of -0", d)
		assert.True(t, math.IsNaN(float64(SmallFloatTo32(d, Float32ToSmall(d, nan, true)))), "%v of NaN", d)
		assert.Equal(t, []uint8{0x7e, 0x7f, 0x7b, 0x7f}[i], Float32ToSmall(d, inf, true), "%v of Inf, saturating", d)
		assert.Equal(t, []uint8{0xfe, 0xff, 0xfb, 0xff}[i], Float32ToSmall(d, -inf, true), "%v of -Inf, saturating", d)
		assert.Equal(t, []uint8{0x7f, 0x80, 0x7c, 0x80}[i], Float32ToSmall(d, inf, false), "%v of Inf", d)
	}
	assert.Equal(t, uint8(8), Float32ToSmall(Float4E2M1, nan, false))
	assert.Equal(t, uint8(15), Float32ToSmall(Float4E2M1, -inf, false))
	assert.Equal(t, uint8(8), Float32ToSmall(Float4E2M1, -0.1, false))
	for _, d := range []DType{Float6E2M3, Float6E3M2} {
		assert.Equal(t, uint8(0x20), Float32ToSmall(d, nan, false), "%v of NaN", d)
		assert.Equal(t, uint8(0x3f), Float32ToSmall(d, -inf, false), "%v of -Inf", d)
		assert.Equal(t, uint8(0x20), Float32ToSmall(d, -0.001, false), "%v of -0.001", d)
	}
}

func TestPutInt_wrapsAndPacks(t *testing.T) {
	for d := Bool; d.Valid(); d++ {
		if !d.IsInt() && d != Bool {
			continue
		}
		values := []int64{0, 1, -1, 5, 127, -128, 200, 1 << 20, math.MaxInt64, math.MinInt64}
		size, _ := d.ByteSize(int64(len(values)))
		data := make([]byte, size)
		for i := range data {
			data[i] = 0xff
		}
		for i, v := range values {
			PutInt(d, data, i, v)
		}
		for i, v := range values {
			want := v << (64 - d.Bits()) // sign or zero extension of the low bits
			switch {
			case d == Bool && v != 0:
				want = 1
			case d.IsSigned():
				want >>= 64 - d.Bits()
			default:
				want = int64(uint64(want) >> (64 - d.Bits()))
			}
			assert.Equal(t, want, IntAt(d, data, i), "%v of %d", d, v)
		}
	}
}

func TestIntLimits_areStoredAndNextWraps(t *testing.T) {
	for d := Bool; d.Valid(); d++ {
		if !d.IsInt() || d == Uint64 {
			continue
		}
		lo, hi := IntLimits(d)
		b := make([]byte, 8)
		PutInt(d, b, 0, lo)
		assert.Equal(t, lo, IntAt(d, b, 0), "%v", d)
		PutInt(d, b, 0, hi)
		assert.Equal(t, hi, IntAt(d, b, 0), "%v", d)
		PutInt(d, b, 0, hi+1)
		assert.Equal(t, lo, IntAt(d, b, 0), "%v", d)
	}
}

// 1 + 2^-11 + 2^-40 lies above the middle of two float16 numbers; rounding it to float32 first would hide that.
func TestPutFloat_roundsOnce(t *testing.T) {
	b := make([]byte, 8)
	for _, c := range []struct {
		d    DType
		v    float64
		want float64
	}{
		{Float16, 1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-10}, {Float16, 1 + 0x1p-11 - 0x1p-40, 1}, {Float16, 1 + 0x1p-11, 1},
		{BFloat16, 1 + 0x1p-8 + 0x1p-40, 1 + 0x1p-7}, {BFloat16, -1 - 0x1p-8 - 0x1p-40, -1 - 0x1p-7},
		{Float8E4M3FN, 1 + 0x1p-4 + 0x1p-40, 1.125}, {Float4E2M1, 2.5 + 0x1p-40, 3}, {Float4E2M1, 2.5, 2},
		{Float32, 1 + 0x1p-24 + 0x1p-40, 1 + 0x1p-23}, {Float64, math.Pi, math.Pi}, {Float16, 1e300, math.Inf(1)},
		{BFloat16, 0x1p-133, 0x1p-133},
	} {
		PutFloat(c.d, b, 0, c.v, false)
		assert.Equal(t, c.want, FloatAt(c.d, b, 0), "%v of %v", c.d, c.v)
	}
	PutFloat(Float4E2M1, b, 1, 6, false)
	PutFloat(Float4E2M1, b, 0, -0.5, false)
	v, err := ReadFloats(Float4E2M1, b, 2)
	require.NoError(t, err)
	assert.Equal(t, []float64{-0.5, 6}, v)
	_, err = ReadFloats(Int8, b, 2)
	assert.Error(t, err)
	_, err = ReadFloats(Float32, b, 3)
	assert.Error(t, err)
}
