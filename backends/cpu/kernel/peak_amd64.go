//go:build !noasm

package kernel

var _ = register(func(isa ISA) {
	switch isa {
	case AVX512:
		peakLoop = func(n int) int { peakFMAAVX512(n, &peakData[0]); return 48 * 2 * 16 }
	case AVX2:
		peakLoop = func(n int) int { peakFMAAVX2(n, &peakData[0]); return 48 * 2 * 8 }
	default:
		peakLoop = peakGeneric
	}
})

var peakData = func() []float32 {
	d := Aligned[float32](18 * 16)
	x := uint32(1)
	for i := range d {
		x = x*1664525 + 1013904223
		d[i] = float32(int32(x)) / (1 << 31)
	}
	return d
}()
