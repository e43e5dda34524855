//go:build !noasm

package kernel

var _ = register(func(isa ISA) {
	switch isa {
	case AVX512:
		unaryFns = [numUnary]unaryFn{
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
	case AVX2:
		unaryFns = [numUnary]unaryFn{
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
		}
	default:
		unaryFns = unaryGeneric
	}
})
