package kernel

// Unary computes, in place if dst and src are the same slice,
//
//	for i, x := range src {
//		dst[i] = op(x)
//	}
//
// dst must be as long as src.
func Unary(op UnaryOp, dst, src []float32, alpha, beta float32) {
	need("Unary", "dst", len(dst), len(src))
	if op >= numUnary {
		panic("kernel: Unary: " + op.String())
	}
	if len(src) == 0 {
		return
	}
	switch op {
	case Identity:
		copy(dst, src)
		return
	case Relu:
		op, alpha, beta = Clamp, 0, inf32
	case Relu6:
		op, alpha, beta = Clamp, 0, 6
	}
	const block = 1 << 13 // keeps one assembly call short
	for i := 0; i < len(src); i += block {
		n, f := min(block, len(src)-i), fast.unary[op]
		if op <= Tan && op >= Sin && far(&src[i], n) {
			f = unaryGeneric[op]
		}
		f(&dst[i], &src[i], n, alpha, beta)
	}
}

// far says that a value has so many turns that the kernels' pi is too short, or is NaN.
func far(src *float32, n int) bool {
	const limit = 1 << 31
	return !(fast.max(src, n) < limit && fast.min(src, n) > -limit)
}
