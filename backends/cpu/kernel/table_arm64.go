//go:build !noasm

package kernel

import "golang.org/x/sys/cpu"

// architectureSets are the instruction sets of arm64: what every processor has, products of four bytes (A55, A75 and
// later), arithmetic of binary16, and products of an unsigned and a signed byte.
func architectureSets() []instructionSet {
	return []instructionSet{
		{"neon", func() bool { return true }, neonTable()},
		{"dotprod", func() bool { return cpu.ARM64.HasASIMDDP }, dotprodTable()},
		{"fp16", func() bool { return cpu.ARM64.HasASIMDHP }, fp16Table()},
		{"i8mm", func() bool { return cpu.ARM64.HasI8MM }, i8mmTable()},
	}
}

func neonTable() table {
	t := genericTable()
	t.lanes, t.gemm = 8, &tilesNEON
	t.winoInput, t.winoFilter, t.winoOutput = winoInputNEON, winoFilterNEON, winoOutputNEON
	t.window1, t.window4 = dwWindow1NEON, dwWindow4NEON
	t.quick = [3][2][3]dwFastFn{
		{{dw3s1x1NEON, dw3s1x4NEON, dw3s1x8NEON}, {dw3s2x1NEON, dw3s2x4NEON, dw3s2x8NEON}},
		{{dw5s1x1NEON, dw5s1x4NEON, dw5s1x8NEON}, {dw5s2x1NEON, dw5s2x4NEON, dw5s2x8NEON}},
		{{dw7s1x1NEON, dw7s1x4NEON, dw7s1x8NEON}, {dw7s2x1NEON, dw7s2x4NEON, dw7s2x8NEON}},
	}
	t.poolMax, t.poolSum = poolMaxNEON, poolSumNEON
	t.halves, t.lookup = halvesNEON(), lookupNEON
	t.unary = [numUnary]unaryFn{
		Clamp:       unaryClampNEON,
		LeakyRelu:   unaryLeakyReluNEON,
		HardSwish:   unaryHardSwishNEON,
		HardSigmoid: unaryHardSigmoidNEON,
		Sigmoid:     unarySigmoidNEON,
		SiLU:        unarySiLUNEON,
		Tanh:        unaryTanhNEON,
		Exp:         unaryExpNEON,
		Erf:         unaryErfNEON,
		Gelu:        unaryGeluNEON,
		GeluTanh:    unaryGeluTanhNEON,
		Sqrt:        unarySqrtNEON,
		Rsqrt:       unaryRsqrtNEON,
		Abs:         unaryAbsNEON,
		Neg:         unaryNegNEON,
		Floor:       unaryFloorNEON,
		Ceil:        unaryCeilNEON,
		Round:       unaryRoundNEON,
		Log:         unaryLogNEON,
		Softplus:    unarySoftplusNEON,
		Mish:        unaryMishNEON,
		Elu:         unaryEluNEON,
		Celu:        unaryCeluNEON,
		Selu:        unarySeluNEON,
		Softsign:    unarySoftsignNEON,
		Sign:        unarySignNEON,
		Threshold:   unaryThresholdNEON,
		Shrink:      unaryShrinkNEON,
		Sin:         unarySinNEON,
		Cos:         unaryCosNEON,
		Tan:         unaryTanNEON,
		Asin:        unaryAsinNEON,
		Acos:        unaryAcosNEON,
		Atan:        unaryAtanNEON,
		Sinh:        unarySinhNEON,
		Cosh:        unaryCoshNEON,
		Asinh:       unaryAsinhNEON,
		Acosh:       unaryAcoshNEON,
		Atanh:       unaryAtanhNEON,
	}
	t.binaryVV = [numBinary]vvFn{vvAddNEON, vvSubNEON, vvMulNEON, vvDivNEON, vvMinNEON, vvMaxNEON, vvPowNEON}
	t.binaryVS = [numBinary]vsFn{vsAddNEON, vsSubNEON, vsMulNEON, vsDivNEON, vsMinNEON, vsMaxNEON, vsPowNEON}
	t.binarySV = [numBinary]vsFn{svAddNEON, svSubNEON, svMulNEON, svDivNEON, svMinNEON, svMaxNEON, svPowNEON}
	t.addMoves()
	t.halfToFloat, t.floatToHalf = halfToFloatNEON, floatToHalfNEON
	t.dequantizeU8, t.dequantizeS8 = dequantizeU8NEON, dequantizeS8NEON
	t.roundTrip, t.mix4, t.interleave3, t.transpose8 = roundTripNEON, mix4NEON, interleave3NEON, transpose8NEON
	t.sum, t.sumSquares, t.addSum, t.expSum = sumNEON, sumSquaresNEON, addSumNEON, expSumNEON
	t.normalize, t.max, t.min = normalizeNEON, maxNEON, minNEON
	t.affine, t.dot, t.addRows, t.rotate = affineNEON, dotNEON, addRowsNEON, rotateNEON
	t.dots, t.mixRows, t.mixCols = dotsNEON, mixRowsNEON, 16
	t.codeBlocks4, t.codeBlocks8 = codeBlocks4NEON, codeBlocks8NEON
	t.int8 = &intTilesNEON
	t.dotOrder, t.dotWindow, t.dotSlide = inWords, dotWindowNEON, dotSlideNEON
	t.wideOrder, t.wideWindow, t.wideSlide = inWords, dotWindowNEON, dotSlideNEON
	t.combine, t.maxU8, t.encode, t.nearest = combineNEON, maxU8NEON, encodeNEON, nearestNEON
	t.rowSums = rowSumsNEON
	t.affine3, t.spread, t.resize1, t.resize2 = affine3NEON, spreadNEON, resize1NEON, resize2NEON
	t.addQuotients()
	t.overlaps, t.halfRows = overlapsNEON, [2]halfRowsFn{halfRows1NEON, halfRows2NEON}
	t.peak = func(n int) int { peakFMANEON(n, &peakData[0]); return 48 * 2 * 4 }
	return t
}

// dotprodTable and i8mmTable fall back to the kernels of the set before where they have none of their own.
func dotprodTable() table {
	t := neonTable()
	t.int8 = &intTilesDotProd
	t.dotOrder, t.dotWindow, t.dotSlide = inQuads, dotWindowDotProd, dotSlideDotProd
	t.blockDots = [2][2][2]blockDotsFn{
		{{blockDots4d2x1DotProd, blockDots4d2x4DotProd}, {blockDots4d3x1DotProd, blockDots4d3x4DotProd}},
		{{blockDots8d2x1DotProd, blockDots8d2x4DotProd}, {blockDots8d3x1DotProd, blockDots8d3x4DotProd}},
	}
	return t
}

func i8mmTable() table {
	t := fp16Table()
	t.int8 = &intTilesI8MM
	t.dotWindow, t.dotSlide = dotWindowI8MM, dotSlideI8MM
	return t
}

var peakData = func() []float32 {
	d := Aligned[float32](18 * 4)
	x := uint32(1)
	for i := range d {
		x = x*1664525 + 1013904223
		d[i] = float32(int32(x)) / (1 << 31)
	}
	return d
}()
