package kernel

import (
	"math"
	"unsafe"
)

func halfToFloatGeneric(dst *float32, src *uint16, n int) {
	d := unsafe.Slice(dst, n)
	for i, h := range unsafe.Slice(src, n) {
		d[i] = halfToFloat(h)
	}
}

func floatToHalfGeneric(dst *uint16, src *float32, n int) {
	d := unsafe.Slice(dst, n)
	for i, f := range unsafe.Slice(src, n) {
		d[i] = floatToHalf(f)
	}
}

func halfToFloat(h uint16) float32 {
	sign := uint32(h&0x8000) << 16
	exp, frac := uint32(h>>10&31), uint32(h&0x3ff)
	switch exp {
	case 0: // zero or denormal: frac * 2^-24, exact in float32
		f := float32(frac) * (1.0 / (1 << 24))
		return math.Float32frombits(math.Float32bits(f) | sign)
	case 31:
		if frac != 0 {
			frac |= 0x200
		}
		return math.Float32frombits(sign | 0x7f800000 | frac<<13)
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}

func floatToHalf(f float32) uint16 {
	b := math.Float32bits(f)
	sign := uint16(b >> 16 & 0x8000)
	a := b & 0x7fffffff
	switch {
	case a > 0x7f800000:
		return sign | 0x7e00 | uint16(a>>13&0x3ff)
	case a >= 0x47800000: // 65536 and above, infinity
		return sign | 0x7c00
	case a < 0x38800000: // below 2^-14: count units of 2^-24
		m := math.RoundToEven(float64(math.Float32frombits(a)) * (1 << 24))
		return sign | uint16(m)
	}
	a += 0xfff + a>>13&1 // round half to even at bit 13; a carry raises the exponent
	return sign | uint16((a>>13)-(112<<10))
}
