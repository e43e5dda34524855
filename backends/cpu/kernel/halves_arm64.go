//go:build !noasm

package kernel

// fp16Table has kernels in binary16 for functions that are rounded once either way. Numbers that binary16 does not have
// are left to the kernels of the set before.
func fp16Table() table {
	t := dotprodTable()
	h := &t.halves[Binary16]
	h.vv = [numBinary]vvHalfFn{vvHalfAddFP16, vvHalfSubFP16, vvHalfMulFP16, vvHalfDivFP16, vvHalfMinFP16,
		vvHalfMaxFP16}
	for op, f := range [Pow]vsHalfFn{vsHalfAddFP16, vsHalfSubFP16, vsHalfMulFP16, vsHalfDivFP16, vsHalfMinFP16,
		vsHalfMaxFP16} {
		h.vs[op] = ofHalf(f, h.vs[op])
	}
	for op, f := range [Pow]vsHalfFn{svHalfAddFP16, svHalfSubFP16, svHalfMulFP16, svHalfDivFP16, svHalfMinFP16,
		svHalfMaxFP16} {
		h.sv[op] = ofHalf(f, h.sv[op])
	}
	h.unary[Sqrt], h.unary[Abs], h.unary[Neg] = unaryHalfSqrtFP16, unaryHalfAbsFP16, unaryHalfNegFP16
	h.unary[Floor], h.unary[Ceil], h.unary[Round] = unaryHalfFloorFP16, unaryHalfCeilFP16, unaryHalfRoundFP16
	clamp := h.unary[Clamp]
	h.unary[Clamp] = func(dst, src *uint16, n int, lo, hi float32) {
		if isHalf(lo) && isHalf(hi) {
			unaryHalfClampFP16(dst, src, n, lo, hi)
		} else {
			clamp(dst, src, n, lo, hi)
		}
	}
	return t
}

// ofHalf is f for numbers of binary16, else other.
func ofHalf(f, other vsHalfFn) vsHalfFn {
	return func(dst, a *uint16, b float32, n int) {
		if isHalf(b) {
			f(dst, a, b, n)
		} else {
			other(dst, a, b, n)
		}
	}
}

func isHalf(x float32) bool { return halfToFloat(floatToHalf(x)) == x }
