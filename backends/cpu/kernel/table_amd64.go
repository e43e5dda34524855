//go:build !noasm

package kernel

import "golang.org/x/sys/cpu"

// architectureSets are the instruction sets of amd64: AVX2 with FMA, F16C and BMI2, and AVX-512 with F, BW, DQ and VL.
// The latter's products of codes need VNNI besides.
func architectureSets() []instructionSet {
	x := &cpu.X86
	return []instructionSet{
		{"avx2", func() bool { return x.HasAVX2 && x.HasFMA && x.HasBMI2 && x.HasF16C }, avx2Table()},
		{"avx512", func() bool { return x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL },
			avx512Table(x.HasAVX512VNNI, x.HasAVX512VBMI)},
	}
}

// ownLoop is the copy by the processor's own loop, nil where that takes a byte at a time.
func ownLoop() func(dst, src *byte, n int) {
	if !cpu.X86.HasERMS {
		return nil
	}
	return copyBytesAVX2
}

func avx2Table() table {
	return table{
		lanes: 8, gemm: &tilesAVX2, int8: &intTilesAVX2,
		winoInput: winoInputAVX2, winoFilter: winoFilterAVX2, winoOutput: winoOutputAVX2,
		window1: dwWindow1AVX2, window4: dwWindow4AVX2,
		dotOrder: inUnits, dotWindow: dotWindowAVX2, dotSlide: dotSlideAVX2,
		wideOrder: inUnits, wideWindow: dotWindowAVX2, wideSlide: dotSlideAVX2, rowPairs: true, rowSums: rowSumsAVX2,
		quick: [3][2][3]dwFastFn{
			{{dw3s1x1AVX2, dw3s1x4AVX2, dw3s1x8AVX2}, {dw3s2x1AVX2, dw3s2x4AVX2, dw3s2x8AVX2}},
			{{dw5s1x1AVX2, dw5s1x4AVX2, dw5s1x8AVX2}, {dw5s2x1AVX2, dw5s2x4AVX2, dw5s2x8AVX2}},
			{{dw7s1x1AVX2, dw7s1x4AVX2}, {dw7s2x1AVX2, dw7s2x4AVX2}},
		},
		poolMax: poolMaxAVX2, poolSum: poolSumAVX2,
		blockDots: [2][2][2]blockDotsFn{
			{{blockDots4d2x1AVX2, blockDots4d2x4AVX2}, {blockDots4d3x1AVX2, blockDots4d3x4AVX2}},
			{{blockDots8d2x1AVX2, blockDots8d2x4AVX2}, {blockDots8d3x1AVX2, blockDots8d3x4AVX2}},
		},
		unary: [numUnary]unaryFn{
			Clamp:       unaryClampAVX2,
			LeakyRelu:   unaryLeakyReluAVX2,
			HardSwish:   unaryHardSwishAVX2,
			HardSigmoid: unaryHardSigmoidAVX2,
			Sigmoid:     unarySigmoidAVX2,
			SiLU:        unarySiLUAVX2,
			Tanh:        unaryTanhAVX2,
			Exp:         unaryExpAVX2,
			Erf:         unaryErfAVX2,
			Gelu:        unaryGeluAVX2,
			GeluTanh:    unaryGeluTanhAVX2,
			Sqrt:        unarySqrtAVX2,
			Rsqrt:       unaryRsqrtAVX2,
			Abs:         unaryAbsAVX2,
			Neg:         unaryNegAVX2,
			Floor:       unaryFloorAVX2,
			Ceil:        unaryCeilAVX2,
			Round:       unaryRoundAVX2,
			Log:         unaryLogAVX2,
			Softplus:    unarySoftplusAVX2,
			Mish:        unaryMishAVX2,
			Elu:         unaryEluAVX2,
			Celu:        unaryCeluAVX2,
			Selu:        unarySeluAVX2,
			Softsign:    unarySoftsignAVX2,
			Sign:        unarySignAVX2,
			Threshold:   unaryThresholdAVX2,
			Shrink:      unaryShrinkAVX2,
			Sin:         unarySinAVX2,
			Cos:         unaryCosAVX2,
			Tan:         unaryTanAVX2,
			Asin:        unaryAsinAVX2,
			Acos:        unaryAcosAVX2,
			Atan:        unaryAtanAVX2,
			Sinh:        unarySinhAVX2,
			Cosh:        unaryCoshAVX2,
			Asinh:       unaryAsinhAVX2,
			Acosh:       unaryAcoshAVX2,
			Atanh:       unaryAtanhAVX2,
		},
		binaryVV: [numBinary]vvFn{vvAddAVX2, vvSubAVX2, vvMulAVX2, vvDivAVX2, vvMinAVX2, vvMaxAVX2, vvPowAVX2},
		binaryVS: [numBinary]vsFn{vsAddAVX2, vsSubAVX2, vsMulAVX2, vsDivAVX2, vsMinAVX2, vsMaxAVX2, vsPowAVX2},
		binarySV: [numBinary]vsFn{svAddAVX2, svSubAVX2, svMulAVX2, svDivAVX2, svMinAVX2, svMaxAVX2, svPowAVX2},
		halves:   halvesAVX2(),
		halfRows: [2]halfRowsFn{halfRows1AVX2, halfRows2AVX2},
		quotientsVV: [3][numQuotients]quotientFn{
			{ModTrunc: vvModF32AVX2},
			{vvDivI32AVX2, vvDivFloorI32AVX2, vvModI32AVX2, vvModFloorI32AVX2},
			{vvDivI64AVX2, vvDivFloorI64AVX2, vvModI64AVX2, vvModFloorI64AVX2},
		},
		quotientsVS: [3][numQuotients]quotientFn{
			{ModTrunc: vsModF32AVX2},
			{vsDivI32AVX2, vsDivFloorI32AVX2, vsModI32AVX2, vsModFloorI32AVX2},
			{vsDivI64AVX2, vsDivFloorI64AVX2, vsModI64AVX2, vsModFloorI64AVX2},
		},
		compareVV: [numCompared][numComparisons]pairFn{
			{vvLessF32AVX2, vvLessEqualF32AVX2, vvGreaterF32AVX2, vvGreaterEqualF32AVX2,
				vvEqualF32AVX2, vvNotEqualF32AVX2},
			{vvLessI32AVX2, vvLessEqualI32AVX2, vvGreaterI32AVX2, vvGreaterEqualI32AVX2,
				vvEqualI32AVX2, vvNotEqualI32AVX2},
			{vvLessI64AVX2, vvLessEqualI64AVX2, vvGreaterI64AVX2, vvGreaterEqualI64AVX2,
				vvEqualI64AVX2, vvNotEqualI64AVX2},
			{vvLessF64AVX2, vvLessEqualF64AVX2, vvGreaterF64AVX2, vvGreaterEqualF64AVX2,
				vvEqualF64AVX2, vvNotEqualF64AVX2},
			{vvLessI8AVX2, vvLessEqualI8AVX2, vvGreaterI8AVX2, vvGreaterEqualI8AVX2,
				vvEqualI8AVX2, vvNotEqualI8AVX2},
			{vvLessU8AVX2, vvLessEqualU8AVX2, vvGreaterU8AVX2, vvGreaterEqualU8AVX2,
				vvEqualI8AVX2, vvNotEqualI8AVX2},
			{vvLessI16AVX2, vvLessEqualI16AVX2, vvGreaterI16AVX2, vvGreaterEqualI16AVX2,
				vvEqualI16AVX2, vvNotEqualI16AVX2},
			{vvLessU16AVX2, vvLessEqualU16AVX2, vvGreaterU16AVX2, vvGreaterEqualU16AVX2,
				vvEqualI16AVX2, vvNotEqualI16AVX2},
			{vvLessU32AVX2, vvLessEqualU32AVX2, vvGreaterU32AVX2, vvGreaterEqualU32AVX2,
				vvEqualI32AVX2, vvNotEqualI32AVX2},
			{vvLessU64AVX2, vvLessEqualU64AVX2, vvGreaterU64AVX2, vvGreaterEqualU64AVX2,
				vvEqualI64AVX2, vvNotEqualI64AVX2},
		},
		compareVS: [numCompared][numComparisons]pairFn{
			{vsLessF32AVX2, vsLessEqualF32AVX2, vsGreaterF32AVX2, vsGreaterEqualF32AVX2,
				vsEqualF32AVX2, vsNotEqualF32AVX2},
			{vsLessI32AVX2, vsLessEqualI32AVX2, vsGreaterI32AVX2, vsGreaterEqualI32AVX2,
				vsEqualI32AVX2, vsNotEqualI32AVX2},
			{vsLessI64AVX2, vsLessEqualI64AVX2, vsGreaterI64AVX2, vsGreaterEqualI64AVX2,
				vsEqualI64AVX2, vsNotEqualI64AVX2},
			{vsLessF64AVX2, vsLessEqualF64AVX2, vsGreaterF64AVX2, vsGreaterEqualF64AVX2,
				vsEqualF64AVX2, vsNotEqualF64AVX2},
			{vsLessI8AVX2, vsLessEqualI8AVX2, vsGreaterI8AVX2, vsGreaterEqualI8AVX2,
				vsEqualI8AVX2, vsNotEqualI8AVX2},
			{vsLessU8AVX2, vsLessEqualU8AVX2, vsGreaterU8AVX2, vsGreaterEqualU8AVX2,
				vsEqualI8AVX2, vsNotEqualI8AVX2},
			{vsLessI16AVX2, vsLessEqualI16AVX2, vsGreaterI16AVX2, vsGreaterEqualI16AVX2,
				vsEqualI16AVX2, vsNotEqualI16AVX2},
			{vsLessU16AVX2, vsLessEqualU16AVX2, vsGreaterU16AVX2, vsGreaterEqualU16AVX2,
				vsEqualI16AVX2, vsNotEqualI16AVX2},
			{vsLessU32AVX2, vsLessEqualU32AVX2, vsGreaterU32AVX2, vsGreaterEqualU32AVX2,
				vsEqualI32AVX2, vsNotEqualI32AVX2},
			{vsLessU64AVX2, vsLessEqualU64AVX2, vsGreaterU64AVX2, vsGreaterEqualU64AVX2,
				vsEqualI64AVX2, vsNotEqualI64AVX2},
		},
		integersVV: [numInteger]pairFn{
			AddI8: vvAddI8AVX2, AddI16: vvAddI16AVX2, AddI32: vvAddI32AVX2, AddI64: vvAddI64AVX2,
			SubI8: vvSubI8AVX2, SubI16: vvSubI16AVX2, SubI32: vvSubI32AVX2, SubI64: vvSubI64AVX2,
			MulI8: vvMulI8AVX2, MulI16: vvMulI16AVX2, MulI32: vvMulI32AVX2, MulI64: vvMulI64AVX2,
			MinI8: vvMinI8AVX2, MinI16: vvMinI16AVX2, MinI32: vvMinI32AVX2, MinI64: vvMinI64AVX2,
			MaxI8: vvMaxI8AVX2, MaxI16: vvMaxI16AVX2, MaxI32: vvMaxI32AVX2, MaxI64: vvMaxI64AVX2,
			LeastU8: vvLeastU8AVX2, LeastU16: vvLeastU16AVX2, LeastU32: vvLeastU32AVX2, LeastU64: vvLeastU64AVX2,
			MostU8: vvMostU8AVX2, MostU16: vvMostU16AVX2, MostU32: vvMostU32AVX2, MostU64: vvMostU64AVX2,
			ShlI8: vvShlI8AVX2, ShlI16: vvShlI16AVX2, ShlI32: vvShlI32AVX2, ShlI64: vvShlI64AVX2,
			ShrU8: vvShrU8AVX2, ShrU16: vvShrU16AVX2, ShrU32: vvShrU32AVX2, ShrU64: vvShrU64AVX2,
			AndBits: vvAndBitsAVX2, OrBits: vvOrBitsAVX2, XorBits: vvXorBitsAVX2, AndBool: vvAndBoolAVX2,
			OrBool: vvOrBoolAVX2, XorBool: vvXorBoolAVX2,
		},
		integersVS: [numInteger]pairFn{
			AddI8: vsAddI8AVX2, AddI16: vsAddI16AVX2, AddI32: vsAddI32AVX2, AddI64: vsAddI64AVX2,
			SubI8: vsSubI8AVX2, SubI16: vsSubI16AVX2, SubI32: vsSubI32AVX2, SubI64: vsSubI64AVX2,
			MulI8: vsMulI8AVX2, MulI16: vsMulI16AVX2, MulI32: vsMulI32AVX2, MulI64: vsMulI64AVX2,
			MinI8: vsMinI8AVX2, MinI16: vsMinI16AVX2, MinI32: vsMinI32AVX2, MinI64: vsMinI64AVX2,
			MaxI8: vsMaxI8AVX2, MaxI16: vsMaxI16AVX2, MaxI32: vsMaxI32AVX2, MaxI64: vsMaxI64AVX2,
			LeastU8: vsLeastU8AVX2, LeastU16: vsLeastU16AVX2, LeastU32: vsLeastU32AVX2, LeastU64: vsLeastU64AVX2,
			MostU8: vsMostU8AVX2, MostU16: vsMostU16AVX2, MostU32: vsMostU32AVX2, MostU64: vsMostU64AVX2,
			ShlI8: vsShlI8AVX2, ShlI16: vsShlI16AVX2, ShlI32: vsShlI32AVX2, ShlI64: vsShlI64AVX2,
			ShrU8: vsShrU8AVX2, ShrU16: vsShrU16AVX2, ShrU32: vsShrU32AVX2, ShrU64: vsShrU64AVX2,
			AndBits: vsAndBitsAVX2, OrBits: vsOrBitsAVX2, XorBits: vsXorBitsAVX2, AndBool: vsAndBoolAVX2,
			OrBool: vsOrBoolAVX2, XorBool: vsXorBoolAVX2,
		},
		foldIntegers: [numSized]castFn{
			AddI8: foldAddI8AVX2, AddI16: foldAddI16AVX2, AddI32: foldAddI32AVX2, AddI64: foldAddI64AVX2,
			MinI8: foldMinI8AVX2, MinI16: foldMinI16AVX2, MinI32: foldMinI32AVX2, MinI64: foldMinI64AVX2,
			MaxI8: foldMaxI8AVX2, MaxI16: foldMaxI16AVX2, MaxI32: foldMaxI32AVX2, MaxI64: foldMaxI64AVX2,
			LeastU8: foldLeastU8AVX2, LeastU16: foldLeastU16AVX2, LeastU32: foldLeastU32AVX2, LeastU64: foldLeastU64AVX2,
			MostU8: foldMostU8AVX2, MostU16: foldMostU16AVX2, MostU32: foldMostU32AVX2, MostU64: foldMostU64AVX2,
		},
		integersEach: [numFunctions]castFn{
			AbsI8: eachAbsI8AVX2, AbsI16: eachAbsI16AVX2, AbsI32: eachAbsI32AVX2, AbsI64: eachAbsI64AVX2,
			NegI8: eachNegI8AVX2, NegI16: eachNegI16AVX2, NegI32: eachNegI32AVX2, NegI64: eachNegI64AVX2,
			SignI8: eachSignI8AVX2, SignI16: eachSignI16AVX2, SignI32: eachSignI32AVX2, SignI64: eachSignI64AVX2,
		},
		narrow: [4][4]castFn{
			1: {narrow2to1AVX2}, 2: {narrow4to1AVX2, narrow4to2AVX2}, 3: {narrow8to1AVX2, narrow8to2AVX2, narrow8to4AVX2},
		},
		widen: [2][4][4]castFn{{
			0: {1: widenU1to2AVX2, 2: widenU1to4AVX2, 3: widenU1to8AVX2}, 1: {2: widenU2to4AVX2, 3: widenU2to8AVX2},
			2: {3: widenU4to8AVX2},
		}, {
			0: {1: widenS1to2AVX2, 2: widenS1to4AVX2, 3: widenS1to8AVX2}, 1: {2: widenS2to4AVX2, 3: widenS2to8AVX2},
			2: {3: widenS4to8AVX2},
		}},
		int32ToFloat: int32ToFloatAVX2, uint32ToFloat: uint32ToFloatAVX2, int64ToFloat: int64ToFloatAVX2,
		doubleToFloat: doubleToFloatAVX2, floatToDouble: floatToDoubleAVX2, brainToFloat: brainToFloatAVX2,
		floatToBrain: floatToBrainAVX2, floatToInt32: floatToInt32AVX2,
		selects:   [4]func(dst, c, a, b *byte, n int){select1AVX2, select2AVX2, select4AVX2, select8AVX2},
		copyBytes: ownLoop(), copyRows: copyRowsAVX2,
		merge:    [4]pairFn{merge1AVX2, merge2AVX2, merge4AVX2, merge8AVX2},
		split:    [4]splitFn{split1AVX2, split2AVX2, split4AVX2, split8AVX2},
		splitIn3: [4]splitFn{2: split4In3AVX2}, repeatRows: repeatRowsAVX2,
		enlarge: [4]func(dst, src *byte, n, rows int){enlarge1AVX2, enlarge2AVX2, enlarge4AVX2},
		transpose: [4]func(dst *byte, ldd int, src *byte, lds, rows, cols int){
			0: transpose1AVX2, 1: transpose2AVX2, 3: transpose8bytesAVX2,
		},
		better: [2][2]func(best *float32, at *int32, x *float32, n int, k int32){
			{betterMaxAVX2, betterMaxLastAVX2}, {betterMinAVX2, betterMinLastAVX2},
		},
		running:  [2]func(dst, src *float32, sums *float64, n int){runningAVX2, runningBeforeAVX2},
		overlaps: overlapsAVX2,
		maxPairs: [2]func(dst *float32, ldd int, src *float32, lds, n, rows int){
			maxPairs2AVX2, maxPairs3AVX2,
		},
		max3:        max3AVX2,
		fold:        [numFolds]foldFn{foldSumAVX2, foldAbsAVX2, foldSquaresAVX2, foldProductAVX2},
		halfToFloat: halfToFloatAVX2, floatToHalf: floatToHalfAVX2,
		dequantizeU8: dequantizeU8AVX2, dequantizeS8: dequantizeS8AVX2, roundTrip: roundTripAVX2, mix4: mix4AVX2,
		sum: sumAVX2, sumSquares: sumSquaresAVX2, addSum: addSumAVX2, expSum: expSumAVX2, normalize: normalizeAVX2,
		max: maxAVX2, min: minAVX2, sumAbs: sumAbsAVX2,
		affine: affineAVX2, dot: dotAVX2, dots: dotsAVX2, mixRows: mixRowsAVX2, mixCols: 32, addRows: addRowsAVX2,
		rotate: rotateAVX2, softmax: softmaxAVX2, logSoftmax: logSoftmaxAVX2, expTotal: expTotalAVX2,
		codeBlocks4: codeBlocks4AVX2, codeBlocks8: codeBlocks8AVX2,
		interleave3: interleave3AVX2, transpose8: transpose8AVX2,
		combine: combineAVX2, lookup: lookupAVX2, maxU8: maxU8AVX2, encode: encodeAVX2, nearest: nearestAVX2,
		affine3: affine3AVX2, spread: spreadAVX2, resize1: resize1AVX2, resize2: resize2AVX2,
		peak: func(n int) int { peakFMAAVX2(n, &peakData[0]); return 48 * 2 * 8 },
	}
}

// avx512Table has AVX2's kernels where there are none of its own.
func avx512Table(vnni, vbmi bool) table {
	t := avx2Table()
	if vbmi {
		t.lookup = lookupAVX512
	}
	t.lanes, t.gemm = 16, &tilesAVX512
	if vnni {
		t.blockDots = [2][2][2]blockDotsFn{
			{{blockDots4d2x1AVX512, blockDots4d2x4AVX512}, {blockDots4d3x1AVX512, blockDots4d3x4AVX512}},
			{{blockDots8d2x1AVX512, blockDots8d2x4AVX512}, {blockDots8d3x1AVX512, blockDots8d3x4AVX512}},
		}
		t.int8 = &intTilesVNNI
		t.dotOrder, t.dotWindow, t.dotSlide = inBlocks, dotWindowAVX512, dotSlideAVX512
		t.wideOrder, t.wideWindow, t.wideSlide = inBlocks, dotWideWindowAVX512, dotWideSlideAVX512
		t.rowSums = rowSumsAVX512
	}
	t.winoInput, t.winoFilter, t.winoOutput = winoInputAVX512, winoFilterAVX512, winoOutputAVX512
	t.window1, t.window4 = dwWindow1AVX512, dwWindow4AVX512
	t.quick = [3][2][3]dwFastFn{
		{{dw3s1x1AVX512, dw3s1x4AVX512, dw3s1x8AVX512}, {dw3s2x1AVX512, dw3s2x4AVX512, dw3s2x8AVX512}},
		{{dw5s1x1AVX512, dw5s1x4AVX512, dw5s1x8AVX512}, {dw5s2x1AVX512, dw5s2x4AVX512, dw5s2x8AVX512}},
		{{dw7s1x1AVX512, dw7s1x4AVX512, dw7s1x8AVX512}, {dw7s2x1AVX512, dw7s2x4AVX512, dw7s2x8AVX512}},
	}
	t.poolMax, t.poolSum = poolMaxAVX512, poolSumAVX512
	t.halves = halvesAVX512()
	t.halfRows = [2]halfRowsFn{halfRows1AVX512, halfRows2AVX512}
	t.unary = [numUnary]unaryFn{
		Clamp:       unaryClampAVX512,
		LeakyRelu:   unaryLeakyReluAVX512,
		HardSwish:   unaryHardSwishAVX512,
		HardSigmoid: unaryHardSigmoidAVX512,
		Sigmoid:     unarySigmoidAVX512,
		SiLU:        unarySiLUAVX512,
		Tanh:        unaryTanhAVX512,
		Exp:         unaryExpAVX512,
		Erf:         unaryErfAVX512,
		Gelu:        unaryGeluAVX512,
		GeluTanh:    unaryGeluTanhAVX512,
		Sqrt:        unarySqrtAVX512,
		Rsqrt:       unaryRsqrtAVX512,
		Abs:         unaryAbsAVX512,
		Neg:         unaryNegAVX512,
		Floor:       unaryFloorAVX512,
		Ceil:        unaryCeilAVX512,
		Round:       unaryRoundAVX512,
		Log:         unaryLogAVX512,
		Softplus:    unarySoftplusAVX512,
		Mish:        unaryMishAVX512,
		Elu:         unaryEluAVX512,
		Celu:        unaryCeluAVX512,
		Selu:        unarySeluAVX512,
		Softsign:    unarySoftsignAVX512,
		Sign:        unarySignAVX512,
		Threshold:   unaryThresholdAVX512,
		Shrink:      unaryShrinkAVX512,
		Sin:         unarySinAVX512,
		Cos:         unaryCosAVX512,
		Tan:         unaryTanAVX512,
		Asin:        unaryAsinAVX512,
		Acos:        unaryAcosAVX512,
		Atan:        unaryAtanAVX512,
		Sinh:        unarySinhAVX512,
		Cosh:        unaryCoshAVX512,
		Asinh:       unaryAsinhAVX512,
		Acosh:       unaryAcoshAVX512,
		Atanh:       unaryAtanhAVX512,
	}
	t.binaryVV = [numBinary]vvFn{vvAddAVX512, vvSubAVX512, vvMulAVX512, vvDivAVX512, vvMinAVX512, vvMaxAVX512, vvPowAVX512}
	t.binaryVS = [numBinary]vsFn{vsAddAVX512, vsSubAVX512, vsMulAVX512, vsDivAVX512, vsMinAVX512, vsMaxAVX512, vsPowAVX512}
	t.binarySV = [numBinary]vsFn{svAddAVX512, svSubAVX512, svMulAVX512, svDivAVX512, svMinAVX512, svMaxAVX512, svPowAVX512}
	t.halfToFloat, t.floatToHalf = halfToFloatAVX512, floatToHalfAVX512
	t.dequantizeU8, t.dequantizeS8 = dequantizeU8AVX512, dequantizeS8AVX512
	t.roundTrip, t.mix4, t.interleave3 = roundTripAVX512, mix4AVX512, interleave3AVX512
	t.sum, t.sumSquares, t.addSum, t.expSum = sumAVX512, sumSquaresAVX512, addSumAVX512, expSumAVX512
	t.affine, t.dot, t.addRows, t.rotate = affineAVX512, dotAVX512, addRowsAVX512, rotateAVX512
	t.dots, t.mixRows, t.mixCols = dotsAVX512, mixRowsAVX512, 64
	t.codeBlocks4, t.codeBlocks8 = codeBlocks4AVX512, codeBlocks8AVX512
	t.softmax, t.logSoftmax, t.expTotal = softmaxAVX512, logSoftmaxAVX512, expTotalAVX512
	t.better = [2][2]func(best *float32, at *int32, x *float32, n int, k int32){
		{betterMaxAVX512, betterMaxLastAVX512}, {betterMinAVX512, betterMinLastAVX512},
	}
	t.running = [2]func(dst, src *float32, sums *float64, n int){runningAVX512, runningBeforeAVX512}
	t.overlaps = overlapsAVX512
	t.maxPairs = [2]func(dst *float32, ldd int, src *float32, lds, n, rows int){maxPairs2AVX512, maxPairs3AVX512}
	t.max3 = max3AVX512
	t.fold = [numFolds]foldFn{foldSumAVX512, foldAbsAVX512, foldSquaresAVX512, foldProductAVX512}
	t.normalize, t.max, t.min, t.sumAbs = normalizeAVX512, maxAVX512, minAVX512, sumAbsAVX512
	t.combine, t.maxU8, t.encode, t.nearest = combineAVX512, maxU8AVX512, encodeAVX512, nearestAVX512
	t.peak = func(n int) int { peakFMAAVX512(n, &peakData[0]); return 48 * 2 * 16 }
	return t
}

var peakData = func() []float32 {
	d := Aligned[float32](18 * 16)
	x := uint32(1)
	for i := range d {
		x = x*1664525 + 1013904223
		d[i] = float32(int32(x)) / (1 << 31)
	}
	return d
}()
