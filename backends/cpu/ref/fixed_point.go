package ref

import "math"

// The arithmetic of fixed-point numbers that kernels with integer contracts share, as gemmlowp defines it: a number of
// 16 or 32 bits with i integer bits stands for raw / 2^(15-i) or raw / 2^(31-i).

// highMul is the product of fixed-point numbers of 16 bits, rounded; -1 times -1 saturates.
func highMul(a, b int16) int16 {
	if a == math.MinInt16 && b == math.MinInt16 {
		return math.MaxInt16
	}
	v := int32(a) * int32(b)
	if v >= 0 {
		return int16((v + 1<<14) / (1 << 15))
	}
	return int16((v + 1 - 1<<14) / (1 << 15))
}

// highMul32 is highMul for 32 bits.
func highMul32(a, b int32) int32 {
	if a == math.MinInt32 && b == math.MinInt32 {
		return math.MaxInt32
	}
	v := int64(a) * int64(b)
	if v >= 0 {
		return int32((v + 1<<30) / (1 << 31))
	}
	return int32((v + 1 - 1<<30) / (1 << 31))
}

// shiftRight divides by 2^n, rounded half away from zero; 0 <= n < 32.
func shiftRight(x int32, n int) int32 {
	mask := int64(1)<<n - 1
	threshold := mask >> 1
	if x < 0 {
		threshold++
	}
	v := x >> n
	if int64(x)&mask > threshold {
		v++
	}
	return v
}

// shiftLeft multiplies by 2^n, saturating.
func shiftLeft(x int16, n int) int16 { return clamp16(int32(x) << n) }

func clamp16(x int32) int16 { return int16(min(max(x, math.MinInt16), math.MaxInt16)) }

// fixedScale is a positive real number as a mantissa of 31 bits and a power of two.
type fixedScale struct {
	mantissa int32
	shift    int
}

// newFixedScale rounds v to 31 bits; below 2^-32 it is 0.
func newFixedScale(v float64) fixedScale {
	if !(v > 0) {
		return fixedScale{}
	}
	f, shift := math.Frexp(v)
	m := int64(math.Round(f * (1 << 31)))
	if m == 1<<31 {
		m, shift = m/2, shift+1
	}
	if shift < -31 {
		return fixedScale{}
	}
	return fixedScale{int32(m), shift}
}

// times multiplies x, rounding twice; the shift to the left wraps.
func (m fixedScale) times(x int32) int32 {
	left, right := max(m.shift, 0), max(-m.shift, 0)
	return shiftRight(highMul32(x<<left, m.mantissa), right)
}

// Constants of 16 bits: of no integer bits, and of two (48/17, -32/17).
const (
	oneQ15      = math.MaxInt16
	third       = 10923 // 1/3
	expEighth   = 28918 // exp(-1/8)
	oneQ13      = 1 << 13
	c48Over17   = 23130
	cNeg32Ovr17 = -15420
)

// expSteps are exp(-2^k) for k from -2 on, in Q15.
var expSteps = [...]int16{25520, 19875, 12055, 4435, 600, 11, 0}

// expNegative returns exp(a) in Q15 of a number a <= 0 with so many integer bits, 1 to 7.
func expNegative(a int16, integerBits int) int16 {
	fraction := 15 - integerBits
	switch {
	case a == 0:
		return oneQ15
	case int32(a) < -32<<fraction:
		return 0
	}
	// The part of a in [-1/4, 0), in Q15, and what it takes off the rest.
	quarter := int16(1)<<(fraction-2) - 1
	low := a&quarter - quarter - 1
	result := expSmall(shiftLeft(low, integerBits))
	rest := low - a
	for k, step := range expSteps {
		exponent := k - 2
		if integerBits > exponent && rest&(1<<(fraction+exponent)) != 0 {
			result = highMul(result, step)
		}
	}
	return result
}

// expSmall returns exp(a) of a in [-1/4, 0), all in Q15, by a series around -1/8.
func expSmall(a int16) int16 {
	x := a + 1<<12
	x2 := highMul(x, x)
	x3, x4 := highMul(x2, x), highMul(x2, x2)
	x4Quarter := int16(shiftRight(int32(x4), 2))
	tail := int16(shiftRight(int32(highMul(x4Quarter+x3, third)+x2), 1))
	return clamp16(int32(expEighth) + int32(highMul(expEighth, x+tail)))
}

// reciprocal returns 1/d in Q13 of d = (1 + a)/2, a in Q15 and in [0, 1), by Newton's method.
func reciprocal(a int16) int16 {
	half := int16((int32(a) + oneQ15 + 1) / 2)
	x := c48Over17 + highMul(half, cNeg32Ovr17)
	for range 3 {
		x += shiftLeft(highMul(x, oneQ13-highMul(half, x)), 2)
	}
	return x
}

// logisticFixed returns 1/(1 + exp(-a)) in Q15 of a number with so many integer bits, 1 to 7.
func logisticFixed(a int16, integerBits int) int16 {
	if a == 0 {
		return 1 << 14
	}
	low := a
	if a > 0 {
		low = -a
	}
	v := shiftLeft(reciprocal(expNegative(low, integerBits)), 1)
	if a < 0 {
		return oneQ15 - v
	}
	return v
}

// tanhFixed returns tanh(a) in Q15 of a number with so many integer bits, 0 to 6.
func tanhFixed(a int16, integerBits int) int16 {
	if a == 0 {
		return 0
	}
	low := a
	if a > 0 {
		low = -a
	}
	v := shiftLeft(reciprocal(expNegative(low, integerBits+1))-oneQ13, 2)
	if a < 0 {
		return -v
	}
	return v
}

// inverseRoot returns 1/sqrt(v), v of 1 or more; 0 is taken as 1.
func inverseRoot(v int32) fixedScale {
	if v <= 1 {
		return fixedScale{math.MaxInt32, 0}
	}
	shift := 11
	for v >= 1<<29 {
		v /= 4
		shift++
	}
	for v < 1<<27 {
		v *= 4
		shift--
	}
	// Newton's method from 1, with three integer bits: x = 1.5 x - v/2 x^3.
	const threeHalves = 1<<28 + 1<<27
	half, x := shiftRight(v>>1, 1), int32(1<<28)
	for range 5 {
		cube := shiftLeft32(highMul32(highMul32(x, x), x), 6)
		x = shiftLeft32(highMul32(threeHalves, x)-highMul32(half, cube), 3)
	}
	x = highMul32(x, 1518500250) // sqrt(2)/2
	if shift < 0 {
		return fixedScale{x << -shift, 0}
	}
	return fixedScale{x, -shift}
}

// shiftLeft32 is shiftLeft for 32 bits.
func shiftLeft32(x int32, n int) int32 {
	return int32(min(max(int64(x)<<n, math.MinInt32), math.MaxInt32))
}
