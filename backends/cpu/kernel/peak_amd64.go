//go:build !noasm

package kernel

var _ = register(func(isa ISA) {
	switch isa {
	case AVX512:
		peakLoop = func(n int) int { peakFMAAVX512(n); return 12 * 2 * 16 }
	case AVX2:
		peakLoop = func(n int) int { peakFMAAVX2(n); return 12 * 2 * 8 }
	default:
		peakLoop = peakGeneric
	}
})
