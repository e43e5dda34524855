package kernel

import "math"

// Functions of numbers of 16 bits: each is computed as float32 and rounded once, ties to even. Where an instruction set
// has no kernel for one, a line after the other goes by float32.

// Widen makes float32 of numbers of the type.
func (h HalfType) Widen(dst []float32, src []uint16) {
	if h == Brain16 {
		BrainToFloat(dst, src)
	} else {
		HalfToFloat(dst, src)
	}
}

// Narrow rounds float32 to numbers of the type.
func (h HalfType) Narrow(dst []uint16, src []float32) {
	if h == Brain16 {
		FloatToBrain(dst, src)
	} else {
		FloatToHalf(dst, src)
	}
}

// plainNaN is x, or a NaN whose lower half is zero: kernels of Brain16 round by an addition.
func plainNaN(x float32) float32 {
	if x != x {
		return float32(math.NaN())
	}
	return x
}

// HalvesWork is how many values of scratch memory these functions need.
const HalvesWork = 2 * halfLine

// halfLine is how many numbers go by float32 at once.
const halfLine = 256

// UnaryHalves is [Unary] of numbers of type h, in place if dst and src are the same slice.
func UnaryHalves(h HalfType, op UnaryOp, dst, src []uint16, alpha, beta float32, work []float32) {
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
	f := fast.halves[h].unary[op]
	alpha, beta = plainNaN(alpha), plainNaN(beta)
	for i := 0; i < len(src); {
		n := min(convertBlock, len(src)-i)
		if f == nil {
			n = min(halfLine, n)
			x := work[:n]
			h.Widen(x, src[i:i+n])
			Unary(op, x, x, alpha, beta)
			h.Narrow(dst[i:i+n], x)
		} else {
			f(&dst[i], &src[i], n, alpha, beta)
		}
		i += n
	}
}

// BinaryHalvesVV is [BinaryVV] of numbers of type h, in place if dst is a or b.
func BinaryHalvesVV(h HalfType, op BinaryOp, dst, a, b []uint16, work []float32) {
	need("BinaryHalvesVV", "dst", len(dst), len(a))
	need("BinaryHalvesVV", "b", len(b), len(a))
	need("BinaryHalvesVV", "work", len(work), HalvesWork)
	op.check()
	f := fast.halves[h].vv[op]
	for i := 0; i < len(a); {
		n := min(convertBlock, len(a)-i)
		if f == nil {
			n = min(halfLine, n)
			x, y := work[:n], work[halfLine:][:n]
			h.Widen(x, a[i:i+n])
			h.Widen(y, b[i:i+n])
			BinaryVV(op, x, x, y)
			h.Narrow(dst[i:i+n], x)
		} else {
			f(&dst[i], &a[i], &b[i], n)
		}
		i += n
	}
}

// BinaryHalvesVS is [BinaryVS] of numbers of type h and one of float32, in place if dst is a. With swap it is
// [BinarySV]: the number is the first argument of op. A divisor has at most 11 bits, as those of h do.
func BinaryHalvesVS(h HalfType, op BinaryOp, dst, a []uint16, s float32, swap bool, work []float32) {
	need("BinaryHalvesVS", "dst", len(dst), len(a))
	need("BinaryHalvesVS", "work", len(work), HalvesWork)
	op.check()
	own := &fast.halves[h]
	f := own.vs[op]
	if swap {
		f = own.sv[op]
	}
	s = plainNaN(s)
	if op == Div && !swap && own.quotient != nil && s != 0 && s-s == 0 {
		for i := 0; i < len(a); i += convertBlock {
			own.quotient(&dst[i], &a[i], s, 1/s, min(convertBlock, len(a)-i))
		}
		return
	}
	for i := 0; i < len(a); {
		n := min(convertBlock, len(a)-i)
		if f == nil {
			n = min(halfLine, n)
			x := work[:n]
			h.Widen(x, a[i:i+n])
			if swap {
				BinarySV(op, x, s, x)
			} else {
				BinaryVS(op, x, x, s)
			}
			h.Narrow(dst[i:i+n], x)
		} else {
			f(&dst[i], &a[i], s, n)
		}
		i += n
	}
}

// AffineHalves is [Affine] of numbers of type h, in place if dst is src.
func AffineHalves(h HalfType, dst, src []uint16, mean, factor, shift float32, work []float32) {
	need("AffineHalves", "dst", len(dst), len(src))
	need("AffineHalves", "work", len(work), HalvesWork)
	f := fast.halves[h].affine
	for i := 0; i < len(src); {
		n := min(convertBlock, len(src)-i)
		if f == nil {
			n = min(halfLine, n)
			x := work[:n]
			h.Widen(x, src[i:i+n])
			Affine(x, x, mean, factor, shift)
			h.Narrow(dst[i:i+n], x)
		} else {
			f(&dst[i], &src[i], n, mean, factor, shift)
		}
		i += n
	}
}
