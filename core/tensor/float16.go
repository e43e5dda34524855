package tensor

import "math"

// Float16To32 converts an IEEE binary16 number; exact.
func Float16To32(h uint16) float32 {
	sign := uint32(h&0x8000) << 16
	exp := uint32(h>>10) & 31
	man := uint32(h & 0x3ff)
	switch exp {
	case 0: // zero or subnormal: man x 2^-24
		return math.Float32frombits(math.Float32bits(float32(man)*0x1p-24) | sign)
	case 31:
		return math.Float32frombits(sign | 0x7f800000 | man<<13)
	}
	return math.Float32frombits(sign | (exp+112)<<23 | man<<13)
}

// Float32To16 converts to IEEE binary16, rounding to nearest, ties to even; too large values become infinite, NaN stays
// NaN.
func Float32To16(f float32) uint16 {
	b := math.Float32bits(f)
	sign := uint16(b >> 16 & 0x8000)
	abs := b & 0x7fffffff
	switch {
	case abs > 0x7f800000: // NaN: keep the upper payload bits, make it quiet
		return sign | 0x7e00 | uint16(abs>>13&0x3ff)
	case abs >= 0x477ff000: // rounds to 2^16 or is infinite
		return sign | 0x7c00
	case abs < 0x38800000: // below 2^-14: subnormal or zero
		// Adding 0.5 puts the units of 2^-24 into the lowest mantissa bits and rounds in hardware.
		v := math.Float32frombits(abs) + 0.5
		return sign | uint16(math.Float32bits(v)-math.Float32bits(0.5))
	}
	r := abs + 0xfff + abs>>13&1
	return sign | uint16(r>>13-112<<10)
}

// BFloat16To32 converts a bfloat16 number; exact.
func BFloat16To32(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }

// Float32ToBFloat16 converts to bfloat16, rounding to nearest, ties to even; NaN stays a quiet NaN.
func Float32ToBFloat16(f float32) uint16 {
	b := math.Float32bits(f)
	if b&0x7fffffff > 0x7f800000 {
		return uint16(b>>16) | 0x40
	}
	return uint16((b + 0x7fff + b>>16&1) >> 16)
}
