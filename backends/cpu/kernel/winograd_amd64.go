//go:build !noasm

package kernel

var _ = register(func(isa ISA) {
	switch isa {
	case AVX512:
		winoInput, winoFilter, winoOutput = winoInputAVX512, winoFilterAVX512, winoOutputAVX512
	case AVX2:
		winoInput, winoFilter, winoOutput = winoInputAVX2, winoFilterAVX2, winoOutputAVX2
	default:
		winoInput, winoFilter, winoOutput = winoInputGeneric, winoFilterGeneric, winoOutputGeneric
	}
})
