package kernel

// convertBlock is the values of one assembly call; a multiple of every vector.
const convertBlock = 1 << 14

// inVectors runs f over whole blocks of vectors and rest over what remains.
func inVectors(n int, f, rest func(i, n int)) {
	whole := n / fast.lanes * fast.lanes
	for i := 0; i < whole; i += convertBlock {
		f(i, min(convertBlock, whole-i))
	}
	if whole < n {
		rest(whole, n-whole)
	}
}

// HalfToFloat widens IEEE binary16 values, exactly: dst[i] = float32(src[i]).
// A signalling NaN becomes quiet.
func HalfToFloat(dst []float32, src []uint16) {
	need("HalfToFloat", "dst", len(dst), len(src))
	inVectors(len(src),
		func(i, n int) { fast.halfToFloat(&dst[i], &src[i], n) },
		func(i, n int) { halfToFloatGeneric(&dst[i], &src[i], n) })
}

// FloatToHalf rounds to IEEE binary16, ties to even; too large values become
// infinite, small ones denormal or zero. A NaN stays a NaN.
func FloatToHalf(dst []uint16, src []float32) {
	need("FloatToHalf", "dst", len(dst), len(src))
	inVectors(len(src),
		func(i, n int) { fast.floatToHalf(&dst[i], &src[i], n) },
		func(i, n int) { floatToHalfGeneric(&dst[i], &src[i], n) })
}
