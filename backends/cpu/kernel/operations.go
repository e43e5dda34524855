package kernel

import (
	"fmt"
	"math"
)

// BinaryOp names an element-wise function of two arguments.
type BinaryOp uint8

// Functions for the Binary kernels, each but Pow one correctly rounded IEEE operation.
// Min and Max give NaN when either argument is NaN; of two zeros with different
// signs they give either. Pow has the special cases of C's pow and is within 1 ulp.
const (
	Add BinaryOp = iota
	Sub
	Mul
	Div
	Min
	Max
	Pow
	numBinary
)

var binaryNames = [numBinary]string{"Add", "Sub", "Mul", "Div", "Min", "Max", "Pow"}

// String is the name of the constant.
func (o BinaryOp) String() string {
	if o < numBinary {
		return binaryNames[o]
	}
	return fmt.Sprintf("BinaryOp(%d)", uint8(o))
}

func (o BinaryOp) check() {
	if o >= numBinary {
		panic("kernel: " + o.String())
	}
}

// UnaryOp names an element-wise function of one argument.
type UnaryOp uint8

// Functions for [Unary] and [Act]. Where alpha and beta are not mentioned they
// are ignored. NaN gives NaN unless stated. Errors are against the exact value,
// in units in the last place (ulp) of float32, on every level.
const (
	Identity    UnaryOp = iota // x
	Relu                       // x < 0 ? 0 : x
	Relu6                      // clamp to [0, 6]
	Clamp                      // clamp to [alpha, beta]; a NaN stays
	LeakyRelu                  // x < 0 ? alpha*x : x
	HardSwish                  // x * (clamp(x+3, 0, 6) * (1/6)), rounded after each step
	HardSigmoid                // clamp(alpha*x + beta, 0, 1), rounded after each step
	Sigmoid                    // 1 / (1+exp(-x)); within 4 ulp
	SiLU                       // x * sigmoid(x); within 4 ulp; NaN at -Inf
	Tanh                       // within 4 ulp
	Exp                        // within 2 ulp, denormal results included
	Erf                        // within 4 ulp
	Gelu                       // x/2 * (1+erf(x/sqrt(2))); within 2^-22*|x|, and 2^-12 of the result
	GeluTanh                   // x/2 * (1+tanh(sqrt(2/pi)*(x+0.044715*x^3))); within 2^-21*|x|, as Gelu
	Sqrt                       // correctly rounded
	Rsqrt                      // 1/sqrt(x), two roundings
	Abs                        // clears the sign
	Neg                        // flips the sign
	Floor
	Ceil
	Round     // to nearest, ties to even
	Log       // natural; within 2 ulp; -Inf at zeros, NaN below
	Softplus  // log(1+exp(x)); within 4 ulp
	Mish      // x * tanh(softplus(x)); within 8 ulp; NaN at -Inf
	Elu       // x < 0 ? alpha*(exp(x)-1) : x; within 3 ulp
	Celu      // x < 0 ? alpha*(exp(beta*x)-1) : x; within 4 ulp where beta*x is exact
	Selu      // x < 0 ? alpha*(exp(x)-1) : beta*x; within 4 ulp
	Softsign  // x / (1+|x|), rounded after each step
	Sign      // -1, 0 or 1
	Threshold // x > alpha ? x : 0; 0 for NaN
	Shrink    // x < -alpha ? x+beta : x > alpha ? x-beta : 0; 0 for NaN

	// These are within 1 ulp.
	Sin
	Cos
	Tan
	Asin
	Acos
	Atan
	Sinh
	Cosh
	Asinh
	Acosh
	Atanh
	numUnary
)

var unaryNames = [numUnary]string{
	"Identity", "Relu", "Relu6", "Clamp", "LeakyRelu", "HardSwish", "HardSigmoid", "Sigmoid", "SiLU", "Tanh", "Exp",
	"Erf", "Gelu", "GeluTanh", "Sqrt", "Rsqrt", "Abs", "Neg", "Floor", "Ceil", "Round", "Log", "Softplus", "Mish", "Elu",
	"Celu", "Selu", "Softsign", "Sign", "Threshold", "Shrink", "Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh",
	"Asinh", "Acosh", "Atanh",
}

// String is the name of the constant.
func (o UnaryOp) String() string {
	if o < numUnary {
		return unaryNames[o]
	}
	return fmt.Sprintf("UnaryOp(%d)", uint8(o))
}

// Act is an element-wise activation; the zero value is the identity.
type Act struct {
	Op          UnaryOp
	Alpha, Beta float32
}

// clamp gives the bounds when the activation is a clamp, and otherwise reports
// that a separate pass is needed.
func (a Act) clamp() (lo, hi float32, pass bool) {
	inf := float32(math.Inf(1))
	switch a.Op {
	case Identity:
		return -inf, inf, false
	case Relu:
		return 0, inf, false
	case Relu6:
		return 0, 6, false
	case Clamp:
		return a.Alpha, a.Beta, false
	}
	return -inf, inf, true
}

// Quotient names a division of two numbers, or its remainder.
type Quotient uint8

// Functions for [Quotients]. The remainder of float32 is exact.
const (
	DivTrunc Quotient = iota // rounded towards 0
	DivFloor                 // rounded down
	ModTrunc                 // the remainder, with the sign of the dividend, zeros included
	ModFloor                 // the remainder, with the sign of the divisor
	numQuotients
)

// FoldOp is a way to make one number of many, in float64.
type FoldOp uint8

// Folds: the sum, that of magnitudes, that of squares, the product.
const (
	FoldSum FoldOp = iota
	FoldAbs
	FoldSquares
	FoldProduct
	numFolds
)

// Nothing is the number that a fold begins with.
func (op FoldOp) Nothing() float64 {
	if op == FoldProduct {
		return 1
	}
	return 0
}

// HalfType is a type of numbers of 16 bits.
type HalfType uint8

const (
	// Binary16 has five bits of exponent, as IEEE 754 defines it.
	Binary16 HalfType = iota
	// Brain16 has eight: the upper half of float32.
	Brain16

	numHalfTypes
)
