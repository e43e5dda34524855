//go:build !noasm

package kernel

var _ = register(func(isa ISA) {
	switch isa {
	case AVX512:
		dwWindow1, dwWindow4 = dwWindow1AVX512, dwWindow4AVX512
		poolMax, poolSum = poolMaxAVX512, poolSumAVX512
		dwFast = [2][2][3]dwFastFn{
			{{dw3s1x1AVX512, dw3s1x4AVX512, dw3s1x8AVX512}, {dw3s2x1AVX512, dw3s2x4AVX512, dw3s2x8AVX512}},
			{{dw5s1x1AVX512, dw5s1x4AVX512, dw5s1x8AVX512}, {dw5s2x1AVX512, dw5s2x4AVX512, dw5s2x8AVX512}},
		}
	case AVX2:
		dwWindow1, dwWindow4 = dwWindow1AVX2, dwWindow4AVX2
		poolMax, poolSum = poolMaxAVX2, poolSumAVX2
		dwFast = [2][2][3]dwFastFn{
			{{dw3s1x1AVX2, dw3s1x4AVX2, dw3s1x8AVX2}, {dw3s2x1AVX2, dw3s2x4AVX2, dw3s2x8AVX2}},
			{{dw5s1x1AVX2, dw5s1x4AVX2, dw5s1x8AVX2}, {dw5s2x1AVX2, dw5s2x4AVX2, dw5s2x8AVX2}},
		}
	default:
		dwWindow1, dwWindow4 = dwWindow1Generic, dwWindow4Generic
		poolMax, poolSum = poolMaxGeneric, poolSumGeneric
		dwFast = [2][2][3]dwFastFn{}
	}
})
