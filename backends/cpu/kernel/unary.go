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
		fast.unary[op](&dst[i], &src[i], min(block, len(src)-i), alpha, beta)
	}
}
