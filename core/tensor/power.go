package tensor

import "math"

// PowerRule says which power of two stands for a number between two.
type PowerRule uint8

// The rules.
const (
	PowerUp      PowerRule = iota // the larger one
	PowerNearest                  // the nearer one; the larger one in the middle between them
	PowerDown                     // the smaller one
)

// The codes of Float8E8M0 are exponents.
const (
	powerBias    = 127
	powerLargest = 254
	powerNaN     = 255
)

// powerOf returns the number of a code of Float8E8M0.
func powerOf(code uint8) float64 {
	if code == powerNaN {
		return math.NaN()
	}
	return math.Ldexp(1, int(code)-powerBias)
}

// ToPower converts to a code of Float8E8M0, whose numbers are the powers of two from 2^-127 to 2^127. The sign is
// dropped, as the type has none. With saturate, numbers that are smaller after rounding become the smallest, zero
// included, and larger ones the largest, infinity included; without, both become NaN. NaN stays NaN. Source: ONNX
// Cast-28.
func ToPower(v float64, rule PowerRule, saturate bool) uint8 {
	if math.IsNaN(v) {
		return powerNaN
	}
	var code int
	switch v = math.Abs(v); {
	case math.IsInf(v, 1):
		code = powerLargest + 1
	case v == 0:
		code = -1
	default:
		fraction, e := math.Frexp(v) // v = fraction x 2^e, fraction in [0.5, 1)
		code = e - 1 + powerBias
		if rule == PowerUp && fraction > 0.5 || rule == PowerNearest && fraction >= 0.75 {
			code++
		}
	}
	switch {
	case code >= 0 && code <= powerLargest:
		return uint8(code)
	case !saturate:
		return powerNaN
	case code < 0:
		return 0
	}
	return powerLargest
}
