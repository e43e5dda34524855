//go:build !noasm

package kernel

var _ = register(func(isa ISA) {
	d := &rowDots
	switch isa {
	case AVX512:
		d[0].rows, d[0].many, d[0].single = 4, rowDot1x4AVX512, rowDot1x1AVX512
		d[1].rows, d[1].many, d[1].single = 4, rowDot2x4AVX512, rowDot2x1AVX512
		d[2].rows, d[2].many, d[2].single = 4, rowDot4x4AVX512, rowDot4x1AVX512
	case AVX2:
		d[0].rows, d[0].many, d[0].single = 4, rowDot1x4AVX2, rowDot1x1AVX2
		d[1].rows, d[1].many, d[1].single = 4, rowDot2x4AVX2, rowDot2x1AVX2
		d[2].rows, d[2].many, d[2].single = 2, rowDot4x2AVX2, rowDot4x1AVX2
	default:
		clear(d[:])
	}
})
