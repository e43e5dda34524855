//go:build !noasm

package kernel

func halvesNEON() (t [numHalfTypes]halfTable) {
	t[Binary16] = halfTable{
		unary: [numUnary]unaryHalfFn{
			Clamp:       unaryHalfClampNEON,
			LeakyRelu:   unaryHalfLeakyReluNEON,
			HardSwish:   unaryHalfHardSwishNEON,
			HardSigmoid: unaryHalfHardSigmoidNEON,
			Sigmoid:     unaryHalfSigmoidNEON,
			SiLU:        unaryHalfSiLUNEON,
			Tanh:        unaryHalfTanhNEON,
			Exp:         unaryHalfExpNEON,
			Erf:         unaryHalfErfNEON,
			Gelu:        unaryHalfGeluNEON,
			GeluTanh:    unaryHalfGeluTanhNEON,
			Sqrt:        unaryHalfSqrtNEON,
			Rsqrt:       unaryHalfRsqrtNEON,
			Abs:         unaryHalfAbsNEON,
			Neg:         unaryHalfNegNEON,
			Floor:       unaryHalfFloorNEON,
			Ceil:        unaryHalfCeilNEON,
			Round:       unaryHalfRoundNEON,
			Log:         unaryHalfLogNEON,
			Softplus:    unaryHalfSoftplusNEON,
			Mish:        unaryHalfMishNEON,
			Elu:         unaryHalfEluNEON,
			Celu:        unaryHalfCeluNEON,
			Selu:        unaryHalfSeluNEON,
			Softsign:    unaryHalfSoftsignNEON,
			Sign:        unaryHalfSignNEON,
			Threshold:   unaryHalfThresholdNEON,
			Shrink:      unaryHalfShrinkNEON,
		},
		vv: [numBinary]vvHalfFn{vvHalfAddNEON, vvHalfSubNEON, vvHalfMulNEON,
			vvHalfDivNEON, vvHalfMinNEON, vvHalfMaxNEON},
		vs: [numBinary]vsHalfFn{vsHalfAddNEON, vsHalfSubNEON, vsHalfMulNEON,
			vsHalfDivNEON, vsHalfMinNEON, vsHalfMaxNEON},
		sv: [numBinary]vsHalfFn{svHalfAddNEON, svHalfSubNEON, svHalfMulNEON,
			svHalfDivNEON, svHalfMinNEON, svHalfMaxNEON},
		quotient: vsHalfQuotientNEON, affine: affineHalfNEON,
	}
	t[Brain16] = halfTable{
		unary: [numUnary]unaryHalfFn{
			Clamp:       unaryBrainClampNEON,
			LeakyRelu:   unaryBrainLeakyReluNEON,
			HardSwish:   unaryBrainHardSwishNEON,
			HardSigmoid: unaryBrainHardSigmoidNEON,
			Abs:         unaryBrainAbsNEON,
			Neg:         unaryBrainNegNEON,
		},
		vv: [numBinary]vvHalfFn{vvBrainAddNEON, vvBrainSubNEON, vvBrainMulNEON,
			vvBrainDivNEON, vvBrainMinNEON, vvBrainMaxNEON},
		vs: [numBinary]vsHalfFn{vsBrainAddNEON, vsBrainSubNEON, vsBrainMulNEON,
			vsBrainDivNEON, vsBrainMinNEON, vsBrainMaxNEON},
		sv: [numBinary]vsHalfFn{vsBrainAddNEON, svBrainSubNEON, vsBrainMulNEON,
			svBrainDivNEON, svBrainMinNEON, svBrainMaxNEON},
	}
	return t
}
