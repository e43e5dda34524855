package kernel

// genericTable is portable Go, which defines what the kernels of every instruction set mean.
func genericTable() table {
	return table{
		lanes:     1,
		winoInput: winoInputGeneric, winoFilter: winoFilterGeneric, winoOutput: winoOutputGeneric,
		window1: dwWindow1Generic, window4: dwWindow4Generic,
		poolMax: poolMaxGeneric, poolSum: poolSumGeneric,
		unary:    unaryGeneric,
		binaryVV: binaryVVGeneric, binaryVS: binaryVSGeneric, binarySV: binarySVGeneric,
		halfToFloat: halfToFloatGeneric, floatToHalf: floatToHalfGeneric,
		dequantizeU8: dequantizeGeneric[uint8], dequantizeS8: dequantizeGeneric[int8],
		roundTrip: roundTripGeneric, mix4: mix4Generic,
		sum: sumGeneric, sumSquares: sumSquaresGeneric, addSum: addSumGeneric, expSum: expSumGeneric,
		normalize: normalizeGeneric, max: maxGeneric, min: minGeneric,
		interleave3: interleave3Generic, transpose8: transposeGeneric,
		combine: combineGeneric, maxU8: maxU8Generic, encode: encodeGeneric, nearest: nearestGeneric,
		affine3: affine3Generic, spread: spreadGeneric, resize1: resize1Generic, resize2: resize2Generic,
		peak: peakGeneric,
	}
}
