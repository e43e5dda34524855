package kernel

import (
	"math"
	"unsafe"
)

// each lifts a scalar function to the form of a kernel.
func each(f func(x, alpha, beta float32) float32) unaryFn {
	return func(dst, src *float32, n int, alpha, beta float32) {
		d := unsafe.Slice(dst, n)
		for i, x := range unsafe.Slice(src, n) {
			d[i] = f(x, alpha, beta)
		}
	}
}

func via64(f func(float64) float64) unaryFn {
	return each(func(x, _, _ float32) float32 { return float32(f(float64(x))) })
}

var unaryGeneric = [numUnary]unaryFn{
	Clamp: each(clamp),
	LeakyRelu: each(func(x, alpha, _ float32) float32 {
		if x < 0 {
			return alpha * x
		}
		return x
	}),
	HardSwish: each(func(x, _, _ float32) float32 {
		t := clamp(x+3, 0, 6) * float32(1.0/6)
		return x * t
	}),
	HardSigmoid: each(func(x, alpha, beta float32) float32 { return clamp(float32(alpha*x)+beta, 0, 1) }),
	Sigmoid:     via64(sigmoid64),
	SiLU:        via64(func(x float64) float64 { return x * sigmoid64(x) }),
	Tanh:        via64(math.Tanh),
	Exp:         via64(math.Exp),
	Erf:         via64(math.Erf),
	Gelu:        via64(gelu64),
	GeluTanh:    via64(geluTanh64),
	Sqrt:        via64(math.Sqrt),
	Rsqrt:       each(func(x, _, _ float32) float32 { return 1 / float32(math.Sqrt(float64(x))) }),
	Abs:         via64(math.Abs),
	Neg:         each(func(x, _, _ float32) float32 { return -x }),
	Floor:       via64(math.Floor),
	Ceil:        via64(math.Ceil),
	Round:       via64(math.RoundToEven),
	Log:         via64(math.Log),
	Softplus:    via64(softplus64),
	Mish:        via64(func(x float64) float64 { return x * math.Tanh(softplus64(x)) }),
	Elu: each(func(x, alpha, _ float32) float32 {
		if x < 0 {
			return alpha * float32(math.Expm1(float64(x)))
		}
		return x
	}),
	Celu: each(func(x, alpha, beta float32) float32 {
		if x < 0 {
			return alpha * float32(math.Expm1(float64(beta*x)))
		}
		return x
	}),
	Selu: each(func(x, alpha, beta float32) float32 {
		if x < 0 {
			return alpha * float32(math.Expm1(float64(x)))
		}
		return beta * x
	}),
	Softsign: each(func(x, _, _ float32) float32 { return x / (1 + float32(math.Abs(float64(x)))) }),
	Sign: each(func(x, _, _ float32) float32 {
		switch {
		case x > 0:
			return 1
		case x < 0:
			return -1
		}
		return x + 0
	}),
	Threshold: each(func(x, alpha, _ float32) float32 {
		if x > alpha {
			return x
		}
		return 0
	}),
	Shrink: each(func(x, alpha, beta float32) float32 {
		switch {
		case x < -alpha:
			return x + beta
		case x > alpha:
			return x - beta
		}
		return 0
	}),
	Sin: via64(math.Sin), Cos: via64(math.Cos), Tan: via64(math.Tan),
	Asin: via64(math.Asin), Acos: via64(math.Acos), Atan: via64(math.Atan),
	Sinh: via64(math.Sinh), Cosh: via64(math.Cosh),
	Asinh: via64(math.Asinh), Acosh: via64(math.Acosh), Atanh: via64(math.Atanh),
}

func sigmoid64(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func softplus64(x float64) float64 { return math.Max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

func gelu64(x float64) float64 { return x / 2 * math.Erfc(-x/math.Sqrt2) }

// geluTanh64 has (1+tanh(u))/2 as 1/(1+exp(-2u)), which keeps its digits where it is small.
func geluTanh64(x float64) float64 {
	return x / (1 + math.Exp(-2*math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
}
