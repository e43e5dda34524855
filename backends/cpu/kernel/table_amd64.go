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
			avx512Table(x.HasAVX512VNNI)},
	}
}

func avx2Table() table {
	return table{
		lanes: 8, gemm: &tilesAVX2, int8: &intTilesAVX2,
		winoInput: winoInputAVX2, winoFilter: winoFilterAVX2, winoOutput: winoOutputAVX2,
		window1: dwWindow1AVX2, window4: dwWindow4AVX2,
		dotOrder: inUnits, dotWindow: dotWindowAVX2, dotSlide: dotSlideAVX2,
		wideOrder: inUnits, wideWindow: dotWindowAVX2, wideSlide: dotSlideAVX2, rowPairs: true,
		quick: [2][2][3]dwFastFn{
			{{dw3s1x1AVX2, dw3s1x4AVX2, dw3s1x8AVX2}, {dw3s2x1AVX2, dw3s2x4AVX2, dw3s2x8AVX2}},
			{{dw5s1x1AVX2, dw5s1x4AVX2, dw5s1x8AVX2}, {dw5s2x1AVX2, dw5s2x4AVX2, dw5s2x8AVX2}},
		},
		poolMax: poolMaxAVX2, poolSum: poolSumAVX2,
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
		},
		binaryVV:    [numBinary]vvFn{vvAddAVX2, vvSubAVX2, vvMulAVX2, vvDivAVX2, vvMinAVX2, vvMaxAVX2},
		binaryVS:    [numBinary]vsFn{vsAddAVX2, vsSubAVX2, vsMulAVX2, vsDivAVX2, vsMinAVX2, vsMaxAVX2},
		binarySV:    [numBinary]vsFn{svAddAVX2, svSubAVX2, svMulAVX2, svDivAVX2, svMinAVX2, svMaxAVX2},
		halfToFloat: halfToFloatAVX2, floatToHalf: floatToHalfAVX2,
		dequantizeU8: dequantizeU8AVX2, dequantizeS8: dequantizeS8AVX2, roundTrip: roundTripAVX2, mix4: mix4AVX2,
		sum: sumAVX2, sumSquares: sumSquaresAVX2, addSum: addSumAVX2, expSum: expSumAVX2, normalize: normalizeAVX2,
		max: maxAVX2, min: minAVX2,
		interleave3: interleave3AVX2, transpose8: transpose8AVX2,
		combine: combineAVX2, maxU8: maxU8AVX2, encode: encodeAVX2, nearest: nearestAVX2,
		affine3: affine3AVX2, spread: spreadAVX2, resize1: resize1AVX2, resize2: resize2AVX2,
		peak: func(n int) int { peakFMAAVX2(n, &peakData[0]); return 48 * 2 * 8 },
	}
}

// avx512Table has AVX2's kernels where there are none of its own.
func avx512Table(vnni bool) table {
	t := avx2Table()
	t.lanes, t.gemm = 16, &tilesAVX512
	if vnni {
		t.int8, t.fastDot = &intTilesVNNI, true
		t.dotOrder, t.dotWindow, t.dotSlide = inBlocks, dotWindowAVX512, dotSlideAVX512
		t.wideOrder, t.wideWindow, t.wideSlide = inBlocks, dotWideWindowAVX512, dotWideSlideAVX512
		t.rowSums = rowSumsAVX512
	}
	t.winoInput, t.winoFilter, t.winoOutput = winoInputAVX512, winoFilterAVX512, winoOutputAVX512
	t.window1, t.window4 = dwWindow1AVX512, dwWindow4AVX512
	t.quick = [2][2][3]dwFastFn{
		{{dw3s1x1AVX512, dw3s1x4AVX512, dw3s1x8AVX512}, {dw3s2x1AVX512, dw3s2x4AVX512, dw3s2x8AVX512}},
		{{dw5s1x1AVX512, dw5s1x4AVX512, dw5s1x8AVX512}, {dw5s2x1AVX512, dw5s2x4AVX512, dw5s2x8AVX512}},
	}
	t.poolMax, t.poolSum = poolMaxAVX512, poolSumAVX512
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
	}
	t.binaryVV = [numBinary]vvFn{vvAddAVX512, vvSubAVX512, vvMulAVX512, vvDivAVX512, vvMinAVX512, vvMaxAVX512}
	t.binaryVS = [numBinary]vsFn{vsAddAVX512, vsSubAVX512, vsMulAVX512, vsDivAVX512, vsMinAVX512, vsMaxAVX512}
	t.binarySV = [numBinary]vsFn{svAddAVX512, svSubAVX512, svMulAVX512, svDivAVX512, svMinAVX512, svMaxAVX512}
	t.halfToFloat, t.floatToHalf = halfToFloatAVX512, floatToHalfAVX512
	t.dequantizeU8, t.dequantizeS8 = dequantizeU8AVX512, dequantizeS8AVX512
	t.roundTrip, t.mix4, t.interleave3 = roundTripAVX512, mix4AVX512, interleave3AVX512
	t.sum, t.sumSquares, t.addSum, t.expSum = sumAVX512, sumSquaresAVX512, addSumAVX512, expSumAVX512
	t.normalize, t.max, t.min = normalizeAVX512, maxAVX512, minAVX512
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
