//go:build !noasm

package kernel

// addMoves fills in the kernels that compare, choose and move elements, change their type, and compute with integers.
// Copies of bytes are left to Go, which uses vectors itself.
func (t *table) addMoves() {
	t.compareVV = [numCompared][numComparisons]pairFn{
		{vvLessF32NEON, vvLessEqualF32NEON, vvGreaterF32NEON, vvGreaterEqualF32NEON,
			vvEqualF32NEON, vvNotEqualF32NEON},
		{vvLessI32NEON, vvLessEqualI32NEON, vvGreaterI32NEON, vvGreaterEqualI32NEON,
			vvEqualI32NEON, vvNotEqualI32NEON},
		{vvLessI64NEON, vvLessEqualI64NEON, vvGreaterI64NEON, vvGreaterEqualI64NEON,
			vvEqualI64NEON, vvNotEqualI64NEON},
		{vvLessF64NEON, vvLessEqualF64NEON, vvGreaterF64NEON, vvGreaterEqualF64NEON,
			vvEqualF64NEON, vvNotEqualF64NEON},
		{vvLessI8NEON, vvLessEqualI8NEON, vvGreaterI8NEON, vvGreaterEqualI8NEON,
			vvEqualI8NEON, vvNotEqualI8NEON},
		{vvLessU8NEON, vvLessEqualU8NEON, vvGreaterU8NEON, vvGreaterEqualU8NEON,
			vvEqualI8NEON, vvNotEqualI8NEON},
		{vvLessI16NEON, vvLessEqualI16NEON, vvGreaterI16NEON, vvGreaterEqualI16NEON,
			vvEqualI16NEON, vvNotEqualI16NEON},
		{vvLessU16NEON, vvLessEqualU16NEON, vvGreaterU16NEON, vvGreaterEqualU16NEON,
			vvEqualI16NEON, vvNotEqualI16NEON},
		{vvLessU32NEON, vvLessEqualU32NEON, vvGreaterU32NEON, vvGreaterEqualU32NEON,
			vvEqualI32NEON, vvNotEqualI32NEON},
		{vvLessU64NEON, vvLessEqualU64NEON, vvGreaterU64NEON, vvGreaterEqualU64NEON,
			vvEqualI64NEON, vvNotEqualI64NEON},
	}
	t.compareVS = [numCompared][numComparisons]pairFn{
		{vsLessF32NEON, vsLessEqualF32NEON, vsGreaterF32NEON, vsGreaterEqualF32NEON,
			vsEqualF32NEON, vsNotEqualF32NEON},
		{vsLessI32NEON, vsLessEqualI32NEON, vsGreaterI32NEON, vsGreaterEqualI32NEON,
			vsEqualI32NEON, vsNotEqualI32NEON},
		{vsLessI64NEON, vsLessEqualI64NEON, vsGreaterI64NEON, vsGreaterEqualI64NEON,
			vsEqualI64NEON, vsNotEqualI64NEON},
		{vsLessF64NEON, vsLessEqualF64NEON, vsGreaterF64NEON, vsGreaterEqualF64NEON,
			vsEqualF64NEON, vsNotEqualF64NEON},
		{vsLessI8NEON, vsLessEqualI8NEON, vsGreaterI8NEON, vsGreaterEqualI8NEON,
			vsEqualI8NEON, vsNotEqualI8NEON},
		{vsLessU8NEON, vsLessEqualU8NEON, vsGreaterU8NEON, vsGreaterEqualU8NEON,
			vsEqualI8NEON, vsNotEqualI8NEON},
		{vsLessI16NEON, vsLessEqualI16NEON, vsGreaterI16NEON, vsGreaterEqualI16NEON,
			vsEqualI16NEON, vsNotEqualI16NEON},
		{vsLessU16NEON, vsLessEqualU16NEON, vsGreaterU16NEON, vsGreaterEqualU16NEON,
			vsEqualI16NEON, vsNotEqualI16NEON},
		{vsLessU32NEON, vsLessEqualU32NEON, vsGreaterU32NEON, vsGreaterEqualU32NEON,
			vsEqualI32NEON, vsNotEqualI32NEON},
		{vsLessU64NEON, vsLessEqualU64NEON, vsGreaterU64NEON, vsGreaterEqualU64NEON,
			vsEqualI64NEON, vsNotEqualI64NEON},
	}
	t.integersVV = [numInteger]pairFn{
		AddI8: vvAddI8NEON, AddI16: vvAddI16NEON, AddI32: vvAddI32NEON, AddI64: vvAddI64NEON,
		SubI8: vvSubI8NEON, SubI16: vvSubI16NEON, SubI32: vvSubI32NEON, SubI64: vvSubI64NEON,
		MulI8: vvMulI8NEON, MulI16: vvMulI16NEON, MulI32: vvMulI32NEON, MulI64: vvMulI64NEON,
		MinI8: vvMinI8NEON, MinI16: vvMinI16NEON, MinI32: vvMinI32NEON, MinI64: vvMinI64NEON,
		MaxI8: vvMaxI8NEON, MaxI16: vvMaxI16NEON, MaxI32: vvMaxI32NEON, MaxI64: vvMaxI64NEON,
		LeastU8: vvLeastU8NEON, LeastU16: vvLeastU16NEON, LeastU32: vvLeastU32NEON, LeastU64: vvLeastU64NEON,
		MostU8: vvMostU8NEON, MostU16: vvMostU16NEON, MostU32: vvMostU32NEON, MostU64: vvMostU64NEON,
		ShlI8: vvShlI8NEON, ShlI16: vvShlI16NEON, ShlI32: vvShlI32NEON, ShlI64: vvShlI64NEON,
		ShrU8: vvShrU8NEON, ShrU16: vvShrU16NEON, ShrU32: vvShrU32NEON, ShrU64: vvShrU64NEON,
		AndBits: vvAndBitsNEON, OrBits: vvOrBitsNEON, XorBits: vvXorBitsNEON, AndBool: vvAndBoolNEON,
		OrBool: vvOrBoolNEON, XorBool: vvXorBoolNEON,
	}
	t.integersVS = [numInteger]pairFn{
		AddI8: vsAddI8NEON, AddI16: vsAddI16NEON, AddI32: vsAddI32NEON, AddI64: vsAddI64NEON,
		SubI8: vsSubI8NEON, SubI16: vsSubI16NEON, SubI32: vsSubI32NEON, SubI64: vsSubI64NEON,
		MulI8: vsMulI8NEON, MulI16: vsMulI16NEON, MulI32: vsMulI32NEON, MulI64: vsMulI64NEON,
		MinI8: vsMinI8NEON, MinI16: vsMinI16NEON, MinI32: vsMinI32NEON, MinI64: vsMinI64NEON,
		MaxI8: vsMaxI8NEON, MaxI16: vsMaxI16NEON, MaxI32: vsMaxI32NEON, MaxI64: vsMaxI64NEON,
		LeastU8: vsLeastU8NEON, LeastU16: vsLeastU16NEON, LeastU32: vsLeastU32NEON, LeastU64: vsLeastU64NEON,
		MostU8: vsMostU8NEON, MostU16: vsMostU16NEON, MostU32: vsMostU32NEON, MostU64: vsMostU64NEON,
		ShlI8: vsShlI8NEON, ShlI16: vsShlI16NEON, ShlI32: vsShlI32NEON, ShlI64: vsShlI64NEON,
		ShrU8: vsShrU8NEON, ShrU16: vsShrU16NEON, ShrU32: vsShrU32NEON, ShrU64: vsShrU64NEON,
		AndBits: vsAndBitsNEON, OrBits: vsOrBitsNEON, XorBits: vsXorBitsNEON, AndBool: vsAndBoolNEON,
		OrBool: vsOrBoolNEON, XorBool: vsXorBoolNEON,
	}
	t.foldIntegers = [numSized]castFn{
		AddI8: foldAddI8NEON, AddI16: foldAddI16NEON, AddI32: foldAddI32NEON, AddI64: foldAddI64NEON,
		MinI8: foldMinI8NEON, MinI16: foldMinI16NEON, MinI32: foldMinI32NEON, MinI64: foldMinI64NEON,
		MaxI8: foldMaxI8NEON, MaxI16: foldMaxI16NEON, MaxI32: foldMaxI32NEON, MaxI64: foldMaxI64NEON,
		LeastU8: foldLeastU8NEON, LeastU16: foldLeastU16NEON, LeastU32: foldLeastU32NEON, LeastU64: foldLeastU64NEON,
		MostU8: foldMostU8NEON, MostU16: foldMostU16NEON, MostU32: foldMostU32NEON, MostU64: foldMostU64NEON,
	}
	t.integersEach = [numFunctions]castFn{
		AbsI8: eachAbsI8NEON, AbsI16: eachAbsI16NEON, AbsI32: eachAbsI32NEON, AbsI64: eachAbsI64NEON,
		NegI8: eachNegI8NEON, NegI16: eachNegI16NEON, NegI32: eachNegI32NEON, NegI64: eachNegI64NEON,
		SignI8: eachSignI8NEON, SignI16: eachSignI16NEON, SignI32: eachSignI32NEON, SignI64: eachSignI64NEON,
	}
	t.narrow = [4][4]castFn{
		1: {narrow2to1NEON}, 2: {narrow4to1NEON, narrow4to2NEON}, 3: {narrow8to1NEON, narrow8to2NEON, narrow8to4NEON},
	}
	t.widen = [2][4][4]castFn{{
		0: {1: widenU1to2NEON, 2: widenU1to4NEON, 3: widenU1to8NEON}, 1: {2: widenU2to4NEON, 3: widenU2to8NEON},
		2: {3: widenU4to8NEON},
	}, {
		0: {1: widenS1to2NEON, 2: widenS1to4NEON, 3: widenS1to8NEON}, 1: {2: widenS2to4NEON, 3: widenS2to8NEON},
		2: {3: widenS4to8NEON},
	}}
	t.int32ToFloat, t.uint32ToFloat, t.int64ToFloat = int32ToFloatNEON, uint32ToFloatNEON, int64ToFloatNEON
	t.doubleToFloat, t.floatToDouble, t.brainToFloat = doubleToFloatNEON, floatToDoubleNEON, brainToFloatNEON
	t.floatToBrain, t.floatToInt32 = floatToBrainNEON, floatToInt32NEON
	t.selects = [4]func(dst, c, a, b *byte, n int){select1NEON, select2NEON, select4NEON, select8NEON}
	t.copyRows, t.split[2] = copyRowsNEON, split4NEON
	t.merge = [4]pairFn{merge1NEON, merge2NEON, merge4NEON, merge8NEON}
	t.enlarge = [4]func(dst, src *byte, n, rows int){enlarge1NEON, enlarge2NEON, enlarge4NEON, enlarge8NEON}
	t.transpose = [4]func(dst *byte, ldd int, src *byte, lds, rows, cols int){
		0: transpose1NEON, 1: transpose2NEON, 3: transpose8bytesNEON,
	}
	t.better = [2][2]func(best *float32, at *int32, x *float32, n int, k int32){
		{betterMaxNEON, betterMaxLastNEON}, {betterMinNEON, betterMinLastNEON},
	}
	t.running = [2]func(dst, src *float32, sums *float64, n int){runningNEON, runningBeforeNEON}
}

// addQuotients fills in the divisions.
func (t *table) addQuotients() {
	t.quotientsVV = [3][numQuotients]quotientFn{
		{ModTrunc: vvModF32NEON},
		{vvDivI32NEON, vvDivFloorI32NEON, vvModI32NEON, vvModFloorI32NEON},
		{vvDivI64NEON, vvDivFloorI64NEON, vvModI64NEON, vvModFloorI64NEON},
	}
	t.quotientsVS = [3][numQuotients]quotientFn{
		{ModTrunc: vsModF32NEON},
		{vsDivI32NEON, vsDivFloorI32NEON, vsModI32NEON, vsModFloorI32NEON},
		{vsDivI64NEON, vsDivFloorI64NEON, vsModI64NEON, vsModFloorI64NEON},
	}
}
