//go:build !noasm

package kernel

var _ = register(func(isa ISA) {
	switch isa {
	case AVX512:
		sumK, sumSquaresK, addSumK, expSumK, normalizeK, maxK, minK = sumAVX512, sumSquaresAVX512, addSumAVX512, expSumAVX512,
			normalizeAVX512, maxAVX512, minAVX512
	case AVX2:
		sumK, sumSquaresK, addSumK, expSumK, normalizeK, maxK, minK = sumAVX2, sumSquaresAVX2, addSumAVX2, expSumAVX2,
			normalizeAVX2, maxAVX2, minAVX2
	default:
		sumK, sumSquaresK, addSumK, expSumK, normalizeK, maxK, minK = sumGeneric, sumSquaresGeneric, addSumGeneric,
			expSumGeneric, normalizeGeneric, maxGeneric, minGeneric
	}
})
