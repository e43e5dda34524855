package tensor

import "math"

// smallFloat describes a float format of at most 8 bits: sign, exponent, mantissa. Its largest finite magnitude is max;
// nan is the code of not-a-number, inf of infinity, both without the sign.
type smallFloat struct {
	man  int   // mantissa bits
	bias int   // exponent bias
	sign uint8 // the sign bit
	max  uint8 // code of the largest finite magnitude
	inf  uint8 // code of infinity, 0 when there is none
	nan  uint8 // code that conversion of a NaN gives; formats without one give their negative zero
	fnuz bool  // no negative zero: its code is the only NaN
	none bool  // neither infinity nor NaN: numbers beyond the largest always become it
}

// The formats of "FP8 Formats for Deep Learning" (E4M3FN, E5M2), of "8-bit Numerical Formats for Deep Neural Networks"
// (FNUZ) and of the OCP Microscaling specification (E2M1, E2M3, E3M2).
var smallFloats = map[DType]smallFloat{
	Float8E4M3FN:   {man: 3, bias: 7, sign: 0x80, max: 0x7e, nan: 0x7f},
	Float8E4M3FNUZ: {man: 3, bias: 8, sign: 0x80, max: 0x7f, nan: 0x80, fnuz: true},
	Float8E5M2:     {man: 2, bias: 15, sign: 0x80, max: 0x7b, inf: 0x7c, nan: 0x7f},
	Float8E5M2FNUZ: {man: 2, bias: 16, sign: 0x80, max: 0x7f, nan: 0x80, fnuz: true},
	Float4E2M1:     {man: 1, bias: 1, sign: 0x08, max: 0x07, nan: 0x08, none: true},
	Float6E2M3:     {man: 3, bias: 1, sign: 0x20, max: 0x1f, nan: 0x20, none: true},
	Float6E3M2:     {man: 2, bias: 3, sign: 0x20, max: 0x1f, nan: 0x20, none: true},
}

// SmallFloatTo32 converts the code of a float8, float6 or float4 number; exact. Other types, and Float8E8M0, give NaN.
func SmallFloatTo32(d DType, code uint8) float32 {
	f, ok := smallFloats[d]
	mag := code & (f.sign - 1)
	switch {
	case !ok, f.fnuz && code == f.nan, !f.fnuz && mag > f.max && mag != f.inf:
		return float32(math.NaN())
	}
	v := math.Inf(1)
	if mag <= f.max {
		v = f.value(mag)
	}
	if code&f.sign != 0 {
		v = -v
	}
	return float32(v)
}

// value returns the number with the magnitude code mag.
func (f smallFloat) value(mag uint8) float64 {
	e, m := int(mag>>f.man), float64(mag&(1<<f.man-1))
	if e == 0 {
		return math.Ldexp(m, 1-f.bias-f.man)
	}
	return math.Ldexp(m+math.Ldexp(1, f.man), e-f.bias-f.man)
}

// Float32ToSmall converts to a float8, float6 or float4 format, rounding to nearest, ties to even. With saturate,
// magnitudes beyond the largest number, infinity included, become that number; without, they become infinity or, in
// formats without one, NaN. float6 and float4 always saturate. NaN stays NaN; float6 and float4, which have none, give
// negative zero. Formats without a negative zero give zero. Source: ONNX Cast-28.
func Float32ToSmall(d DType, v float32, saturate bool) uint8 {
	f, ok := smallFloats[d]
	x := float64(v)
	switch {
	case !ok:
		return 0
	case math.IsNaN(x):
		if math.Signbit(x) {
			return f.nan | f.sign
		}
		return f.nan
	}
	var sign uint8
	if math.Signbit(x) {
		sign, x = f.sign, -x
	}
	mag, over := f.round(x)
	switch {
	case over && (saturate || f.none):
		mag = f.max
	case over && f.fnuz:
		return f.nan
	case over && f.inf != 0:
		mag = f.inf
	case over:
		mag = f.nan
	}
	if f.fnuz && mag == 0 {
		return 0
	}
	return mag | sign
}

// round returns the code of the nearest magnitude to x >= 0, ties to even; over reports that it lies beyond the largest
// finite one.
func (f smallFloat) round(x float64) (mag uint8, over bool) {
	switch {
	case x == 0:
		return 0, false
	case math.IsInf(x, 1):
		return 0, true
	}
	_, e := math.Frexp(x) // x = frac x 2^e, frac in [0.5, 1)
	e = max(e-1, 1-f.bias)
	units := math.RoundToEven(math.Ldexp(x, f.man-e)) // in units of the last place of that exponent
	code := units + math.Ldexp(float64(e+f.bias-1), f.man)
	if code > float64(f.max) {
		return 0, true
	}
	return uint8(code), false
}
