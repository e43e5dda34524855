//go:build !noasm

package kernel

var _ = register(func(isa ISA) {
	switch isa {
	case AVX512:
		binaryVV = [numBinary]vvFn{vvAddAVX512, vvSubAVX512, vvMulAVX512, vvDivAVX512, vvMinAVX512, vvMaxAVX512}
		binaryVS = [numBinary]vsFn{vsAddAVX512, vsSubAVX512, vsMulAVX512, vsDivAVX512, vsMinAVX512, vsMaxAVX512}
		binarySV = [numBinary]vsFn{svAddAVX512, svSubAVX512, svMulAVX512, svDivAVX512, svMinAVX512, svMaxAVX512}
	case AVX2:
		binaryVV = [numBinary]vvFn{vvAddAVX2, vvSubAVX2, vvMulAVX2, vvDivAVX2, vvMinAVX2, vvMaxAVX2}
		binaryVS = [numBinary]vsFn{vsAddAVX2, vsSubAVX2, vsMulAVX2, vsDivAVX2, vsMinAVX2, vsMaxAVX2}
		binarySV = [numBinary]vsFn{svAddAVX2, svSubAVX2, svMulAVX2, svDivAVX2, svMinAVX2, svMaxAVX2}
	default:
		binaryVV, binaryVS, binarySV = binaryVVGeneric, binaryVSGeneric, binarySVGeneric
	}
})
