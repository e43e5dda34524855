//go:build !noasm

package kernel

var _ = register(func(isa ISA) {
	switch isa {
	case AVX512:
		vectorLanes = 16
		halfToFloatK, floatToHalfK = halfToFloatAVX512, floatToHalfAVX512
		quantizeU8K, quantizeS8K = quantizeU8AVX512, quantizeS8AVX512
		dequantizeU8K, dequantizeS8K = dequantizeU8AVX512, dequantizeS8AVX512
		interleave3K, mix4K = interleave3AVX512, mix4AVX512
		roundTripK = roundTripAVX512
		transpose8 = transpose8AVX2
	case AVX2:
		vectorLanes = 8
		halfToFloatK, floatToHalfK = halfToFloatAVX2, floatToHalfAVX2
		quantizeU8K, quantizeS8K = quantizeU8AVX2, quantizeS8AVX2
		dequantizeU8K, dequantizeS8K = dequantizeU8AVX2, dequantizeS8AVX2
		interleave3K, mix4K = interleave3AVX2, mix4AVX2
		roundTripK = roundTripAVX2
		transpose8 = transpose8AVX2
	default:
		vectorLanes = 1
		halfToFloatK, floatToHalfK = halfToFloatGeneric, floatToHalfGeneric
		quantizeU8K, quantizeS8K = quantizeGeneric[uint8], quantizeGeneric[int8]
		dequantizeU8K, dequantizeS8K = dequantizeGeneric[uint8], dequantizeGeneric[int8]
		interleave3K, mix4K = interleave3Generic, mix4Generic
		roundTripK = roundTripGeneric
		transpose8 = transposeGeneric
	}
})
