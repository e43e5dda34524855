package kernel

// Functions of IEEE binary16 numbers: each is computed as float32 and rounded once, ties to even. Where an instruction
// set has no kernel for one, a line after the other goes by float32.

// HalvesWork is how many values of scratch memory these functions need.
const HalvesWork = 2 * halfLine

// halfLine is how many numbers go by float32 at once.
const halfLine = 256

// UnaryHalves is [Unary] of binary16 numbers, in place if dst and src are the same slice.
func UnaryHalves(op UnaryOp, dst, src []uint16, alpha, beta float32, work []float32) {
	need("UnaryHalves", "dst", len(dst), len(src))
	need("UnaryHalves", "work", len(work), HalvesWork)
	if op >= numUnary {
		panic("kernel: UnaryHalves: " + op.String())
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
	f := fast.unaryHalf[op]
	for i := 0; i < len(src); {
		n := min(convertBlock, len(src)-i)
		if f == nil {
			n = min(halfLine, n)
			x := work[:n]
			HalfToFloat(x, src[i:i+n])
			Unary(op, x, x, alpha, beta)
			FloatToHalf(dst[i:i+n], x)
		} else {
			f(&dst[i], &src[i], n, alpha, beta)
		}
		i += n
	}
}

// BinaryHalvesVV is [BinaryVV] of binary16 numbers, in place if dst is a or b.
func BinaryHalvesVV(op BinaryOp, dst, a, b []uint16, work []float32) {
	need("BinaryHalvesVV", "dst", len(dst), len(a))
	need("BinaryHalvesVV", "b", len(b), len(a))
	need("BinaryHalvesVV", "work", len(work), HalvesWork)
	op.check()
	f := fast.halfVV[op]
	for i := 0; i < len(a); {
		n := min(convertBlock, len(a)-i)
		if f == nil {
			n = min(halfLine, n)
			x, y := work[:n], work[halfLine:][:n]
			HalfToFloat(x, a[i:i+n])
			HalfToFloat(y, b[i:i+n])
			BinaryVV(op, x, x, y)
			FloatToHalf(dst[i:i+n], x)
		} else {
			f(&dst[i], &a[i], &b[i], n)
		}
		i += n
	}
}

// BinaryHalvesVS is [BinaryVS] of binary16 numbers and one of float32, in place if dst is a. With swap it is
// [BinarySV]: the number is the first argument of op. A divisor has at most 11 bits, as those of binary16 do.
func BinaryHalvesVS(op BinaryOp, dst, a []uint16, s float32, swap bool, work []float32) {
	need("BinaryHalvesVS", "dst", len(dst), len(a))
	need("BinaryHalvesVS", "work", len(work), HalvesWork)
	op.check()
	f := fast.halfVS[op]
	if swap {
		f = fast.halfSV[op]
	}
	if op == Div && !swap && fast.halfQuotient != nil && s != 0 && s-s == 0 {
		for i := 0; i < len(a); i += convertBlock {
			fast.halfQuotient(&dst[i], &a[i], s, 1/s, min(convertBlock, len(a)-i))
		}
		return
	}
	for i := 0; i < len(a); {
		n := min(convertBlock, len(a)-i)
		if f == nil {
			n = min(halfLine, n)
			x := work[:n]
			HalfToFloat(x, a[i:i+n])
			if swap {
				BinarySV(op, x, s, x)
			} else {
				BinaryVS(op, x, x, s)
			}
			FloatToHalf(dst[i:i+n], x)
		} else {
			f(&dst[i], &a[i], s, n)
		}
		i += n
	}
}

// AffineHalves is [Affine] of binary16 numbers, in place if dst is src.
func AffineHalves(dst, src []uint16, mean, factor, shift float32, work []float32) {
	need("AffineHalves", "dst", len(dst), len(src))
	need("AffineHalves", "work", len(work), HalvesWork)
	for i := 0; i < len(src); {
		n := min(convertBlock, len(src)-i)
		if fast.affineHalf == nil {
			n = min(halfLine, n)
			x := work[:n]
			HalfToFloat(x, src[i:i+n])
			Affine(x, x, mean, factor, shift)
			FloatToHalf(dst[i:i+n], x)
		} else {
			fast.affineHalf(&dst[i], &src[i], n, mean, factor, shift)
		}
		i += n
	}
}
