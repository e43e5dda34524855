package kernel

// DequantizeU8 computes dst[i] = float32(src[i]-zero) * scale, one rounding.
func DequantizeU8(dst []float32, src []uint8, scale float32, zero int32) {
	need("DequantizeU8", "dst", len(dst), len(src))
	inVectors(len(src),
		func(i, n int) { fast.dequantizeU8(&dst[i], &src[i], n, scale, zero) },
		func(i, n int) { dequantizeGeneric(&dst[i], &src[i], n, scale, zero) })
}

// DequantizeS8 is [DequantizeU8] for signed values.
func DequantizeS8(dst []float32, src []int8, scale float32, zero int32) {
	need("DequantizeS8", "dst", len(dst), len(src))
	inVectors(len(src),
		func(i, n int) { fast.dequantizeS8(&dst[i], &src[i], n, scale, zero) },
		func(i, n int) { dequantizeGeneric(&dst[i], &src[i], n, scale, zero) })
}

// RoundTrip computes, in place if dst and src are the same slice, what quantizing and dequantizing leave of src:
//
//	dst[i] = clamp(round(src[i]/scale), lo, hi) * back
//
// with ties to even, a true division in float32, and one rounding of the product. lo and hi are the smallest and the
// largest code less the zero point, integers of at most 2^24. NaN gives 0.
func RoundTrip(dst, src []float32, scale, lo, hi, back float32) {
	need("RoundTrip", "dst", len(dst), len(src))
	for i := 0; i < len(src); i += convertBlock {
		n := min(convertBlock, len(src)-i)
		fast.roundTrip(&dst[i], &src[i], n, scale, lo, hi, back)
	}
}
