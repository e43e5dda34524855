package kernel

import "fmt"

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
	HardSwish                  // x * clamp(x+3, 0, 6) * (1/6), rounded after each step
	HardSigmoid                // clamp(alpha*x + beta, 0, 1), rounded after each step
	Sigmoid                    // 1 / (1+exp(-x)); within 4 ulp
	SiLU                       // x * sigmoid(x); within 4 ulp; NaN at -Inf
	Tanh                       // within 4 ulp
	Exp                        // within 2 ulp, denormal results included
	Erf                        // within 4 ulp
	Gelu                       // x/2 * (1+erf(x/sqrt(2))); within 2^-22*|x|
	GeluTanh                   // x/2 * (1+tanh(sqrt(2/pi)*(x+0.044715*x^3))); within 2^-21*|x|
	Sqrt                       // correctly rounded
	Rsqrt                      // 1/sqrt(x), two roundings
	Abs                        // clears the sign
	Neg                        // flips the sign
	Floor
	Ceil
	Round    // to nearest, ties to even
	Log      // natural; within 2 ulp; -Inf at zeros, NaN below
	Softplus // log(1+exp(x)); within 4 ulp
	Mish     // x * tanh(softplus(x)); within 8 ulp; NaN at -Inf
	Elu      // x < 0 ? alpha*(exp(x)-1) : x; within 3 ulp
	numUnary
)

var unaryNames = [numUnary]string{
	"Identity", "Relu", "Relu6", "Clamp", "LeakyRelu", "HardSwish", "HardSigmoid", "Sigmoid", "SiLU", "Tanh", "Exp",
	"Erf", "Gelu", "GeluTanh", "Sqrt", "Rsqrt", "Abs", "Neg", "Floor", "Ceil", "Round", "Log", "Softplus", "Mish", "Elu",
}

// String is the name of the constant.
func (o UnaryOp) String() string {
	if o < numUnary {
		return unaryNames[o]
	}
	return fmt.Sprintf("UnaryOp(%d)", uint8(o))
}

type unaryFn func(dst, src *float32, n int, alpha, beta float32)

// Unary computes, in place if dst and src are the same slice,
//
//	for i, x := range src {
//		dst[i] = op(x)
//	}
//
// dst must be as long as src.
func Unary(op UnaryOp, dst, src []float32, alpha, beta float32) {
	need("Unary", "dst", len(dst), len(src))
	if op >= numUnary {
		panic("kernel: Unary: " + op.String())
	}
	if len(src) == 0 {
		return
	}
	switch op {
	case Identity:
		copy(dst, src)
		return
	case Relu:
		op, alpha, beta = Clamp, 0, inf32
	case Relu6:
		op, alpha, beta = Clamp, 0, 6
	}
	const block = 1 << 13 // keeps one assembly call short
	for i := 0; i < len(src); i += block {
		fast.unary[op](&dst[i], &src[i], min(block, len(src)-i), alpha, beta)
	}
}
