package kernel

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// unaryExact are the functions whose every level gives the same bits.
var unaryExact = []UnaryOp{Identity, Relu, Relu6, Clamp, LeakyRelu, HardSwish, HardSigmoid, Sqrt, Rsqrt, Abs, Neg,
	Floor, Ceil, Round, Softsign, Sign, Threshold, Shrink}

// withSpecials is n values, special ones mixed in.
func withSpecials(seed uint64, n int) []float32 {
	s := randSlice(seed, n)
	for i := range s {
		s[i] *= 8
		if (i+int(seed))%3 == 0 {
			s[i] = specials[(i/3+int(seed))%len(specials)]
		}
	}
	return s
}

func TestUnary_equalsGenericBitForBit(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		for _, op := range unaryExact {
			for _, n := range lengths() {
				for off := 0; off < 16; off += 5 {
					src := withSpecials(uint64(n+off), n)
					in, out := newGuarded(n, off), newGuarded(n, off*3)
					copy(in.data, src)
					Unary(op, out.data, in.data, 0.25, 0.75)
					out.check(t, op.String())
					want := scalarUnary(op, src, 0.25, 0.75)
					for i := range want {
						if !same(want[i], out.data[i], false) {
							t.Fatalf("%v(%v) of %d values: want %v, got %v", op, src[i], n, want[i], out.data[i])
						}
						if !same(src[i], in.data[i], false) {
							t.Fatal("input written")
						}
					}
					Unary(op, in.data, in.data, 0.25, 0.75)
					in.check(t, op.String())
					for i := range want {
						if !same(want[i], in.data[i], false) {
							t.Fatalf("%v(%v) in place: want %v, got %v", op, src[i], want[i], in.data[i])
						}
					}
				}
			}
		}
	})
}

// scalarUnary is an independent scalar form of the exact functions.
func scalarUnary(op UnaryOp, src []float32, a, b float32) []float32 {
	lim := func(x, lo, hi float32) float32 {
		switch {
		case x < lo:
			return lo
		case x > hi:
			return hi
		}
		return x
	}
	out := make([]float32, len(src))
	for i, x := range src {
		d := float64(x)
		switch op {
		case Identity:
		case Relu:
			x = lim(x, 0, inf32)
		case Relu6:
			x = lim(x, 0, 6)
		case Clamp:
			x = lim(x, a, b)
		case LeakyRelu:
			if x < 0 {
				x = a * x
			}
		case HardSwish:
			x *= lim(x+3, 0, 6) * float32(1.0/6)
		case HardSigmoid:
			x = lim(float32(a*x)+b, 0, 1)
		case Sqrt:
			x = float32(math.Sqrt(d))
		case Rsqrt:
			x = 1 / float32(math.Sqrt(d))
		case Abs:
			x = float32(math.Abs(d))
		case Neg:
			x = -x
		case Floor:
			x = float32(math.Floor(d))
		case Ceil:
			x = float32(math.Ceil(d))
		case Round:
			x = float32(math.RoundToEven(d))
		case Softsign:
			x = x / (1 + float32(math.Abs(d)))
		case Sign:
			if x != 0 && x == x {
				x = float32(math.Copysign(1, d))
			}
			x += 0
		case Threshold:
			if !(x > a) {
				x = 0
			}
		case Shrink:
			switch {
			case x < -a:
				x += b
			case x > a:
				x -= b
			default:
				x = 0
			}
		}
		out[i] = x
	}
	return out
}

// TestUnary_errorBounds sweeps float32 densely and checks the stated errors.
func TestUnary_errorBounds(t *testing.T) {
	cases := []struct {
		op    UnaryOp
		exact func(float64) float64
		ulp   float64 // bound relative to the result
		abs   float64 // bound relative to |x|, instead
		tiny  float64 // absolute error that always passes
	}{
		{op: Exp, exact: math.Exp, ulp: 2},
		{op: Sigmoid, exact: func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }, ulp: 4},
		{op: SiLU, exact: func(x float64) float64 { return x / (1 + math.Exp(-x)) }, ulp: 4, tiny: 1e-42},
		{op: Tanh, exact: math.Tanh, ulp: 4},
		{op: Erf, exact: math.Erf, ulp: 4},
		{op: Log, exact: math.Log, ulp: 2},
		{op: Softplus, exact: func(x float64) float64 { return math.Max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }, ulp: 4},
		{op: Mish, exact: func(x float64) float64 {
			n := math.Expm1(2 * (math.Max(x, 0) + math.Log1p(math.Exp(-math.Abs(x)))))
			if x > 20 {
				return x
			}
			return x * (n / (n + 2))
		}, ulp: 8, tiny: 1e-42},
		{op: Elu, exact: func(x float64) float64 {
			if x < 0 {
				return math.Expm1(x)
			}
			return x
		}, ulp: 3},
		{op: Gelu, exact: func(x float64) float64 { return x / 2 * math.Erfc(-x/math.Sqrt2) }, abs: 1.0 / (1 << 22)},
		{op: GeluTanh, exact: geluTanh64, abs: 1.0 / (1 << 21)},
		{op: Celu, exact: func(x float64) float64 { return math.Max(x, 0) + math.Min(0, math.Expm1(x/2)) }, ulp: 4},
		{op: Selu, exact: func(x float64) float64 { return math.Max(x, 0)/2 + math.Min(0, math.Expm1(x)) }, ulp: 4},
		{op: Sin, exact: math.Sin, ulp: 1}, {op: Cos, exact: math.Cos, ulp: 1}, {op: Tan, exact: math.Tan, ulp: 1},
		{op: Asin, exact: math.Asin, ulp: 1}, {op: Acos, exact: math.Acos, ulp: 1}, {op: Atan, exact: math.Atan, ulp: 1},
		{op: Sinh, exact: math.Sinh, ulp: 1}, {op: Cosh, exact: math.Cosh, ulp: 1},
		{op: Asinh, exact: math.Asinh, ulp: 1}, {op: Acosh, exact: math.Acosh, ulp: 1},
		{op: Atanh, exact: math.Atanh, ulp: 1},
	}
	var xs []float32
	for b := uint64(0); b < 1<<32; b += 39989 * thinning {
		xs = append(xs, math.Float32frombits(uint32(b)))
	}
	for i := 0; i < 400000; i += 3 * thinning { // denser where the functions bend
		xs = append(xs, float32(i-200000)/200000*110, float32(i-200000)/200000*5)
	}
	xs = append(xs, specials...)
	wants := make([][]float64, len(cases))
	for k, c := range cases {
		for _, x := range xs {
			wants[k] = append(wants[k], c.exact(float64(x)))
		}
	}
	eachISA(t, func(t *testing.T) {
		out := make([]float32, len(xs))
		for k, c := range cases {
			Unary(c.op, out, xs, 1, 0.5)
			worst, at := 0.0, float32(0)
			for i, x := range xs {
				want := wants[k][i]
				if math.IsInf(float64(x), -1) && (c.op == SiLU || c.op == Mish || c.op == Gelu || c.op == GeluTanh) {
					want = math.NaN()
				}
				e := ulps(out[i], want)
				d := math.Abs(float64(out[i]) - want)
				if c.abs > 0 && !math.IsInf(float64(x), 0) && x == x {
					e = d / math.Max(c.abs*math.Abs(float64(x)), 1e-42)
					if math.Abs(want) > 1.2e-38 { // also small results keep the digits that binary16 has
						e = math.Max(e, d/math.Abs(want)*(1<<12))
					}
				}
				if d <= c.tiny {
					e = 0
				}
				if e > worst || e != e {
					worst, at = e, x
				}
			}
			limit := c.ulp
			if c.abs > 0 {
				limit = 1
			}
			if !(worst <= limit) {
				t.Errorf("%v: error %.3g at %v exceeds %v", c.op, worst, at, limit)
			}
			t.Logf("%v: worst %.3f of %v at %v", c.op, worst, limit, at)
		}
	})
}

// TestBinary_powerWithinOneUnit has each pair of special and of many other numbers.
func TestBinary_powerWithinOneUnit(t *testing.T) {
	xs := append([]float32{-1, 1, -2, 0.99999994, 1.0000001, 3.4028235e38, 1e-45, -3, 2.5}, specials...)
	ys := append([]float32{-1, 1, 2, 3, -3, 0.5, -0.5, 16777215, 16777217, 1e9, 2147483647, 1e-30}, specials...)
	for i := range 300 {
		xs = append(xs, float32(math.Exp2(float64(i)-150.3)), -float32(i)/7)
		ys = append(ys, float32(i-150)/9, float32(i-150))
	}
	eachISA(t, func(t *testing.T) {
		out := make([]float32, len(xs))
		for _, y := range ys {
			BinaryVS(Pow, out, xs, y)
			for i, x := range xs {
				want := math.Pow(float64(x), float64(y))
				if e := ulps(out[i], want); !(e <= 1) {
					t.Fatalf("%v to the power of %v: want %v, got %v", x, y, want, out[i])
				}
				if want == want && math.Signbit(want) != math.Signbit(float64(out[i])) {
					t.Fatalf("%v to the power of %v: want %v, got %v", x, y, want, out[i])
				}
			}
		}
	})
}

func TestUnary_transcendentalLengths(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		for _, op := range []UnaryOp{Exp, Sigmoid, SiLU, Tanh, Erf, Gelu, GeluTanh, Log, Softplus, Mish, Elu, Celu, Selu,
			Sin, Cos, Tan, Asin, Acos, Atan, Sinh, Cosh, Asinh, Acosh, Atanh} {
			for _, n := range lengths() {
				src := withSpecials(uint64(n), n)
				in, out := newGuarded(n, n), newGuarded(n, 3*n)
				copy(in.data, src)
				Unary(op, out.data, in.data, 0, 0)
				out.check(t, op.String())
				want := make([]float32, n)
				if n > 0 {
					unaryGeneric[op](&want[0], &src[0], n, 0, 0)
				}
				for i := range want {
					x := math.Abs(float64(src[i]))
					ok := same(want[i], out.data[i], true) || math.Abs(float64(want[i])-float64(out.data[i])) <= 1e-6*max(1e-30,
						min(x, 1e30), math.Abs(float64(want[i])))
					require.True(t, ok, "%v(%v): want %v, got %v", op, src[i], want[i], out.data[i])
				}
				Unary(op, in.data, in.data, 0, 0)
				for i := range want {
					require.True(t, same(in.data[i], out.data[i], false), "in place")
				}
			}
		}
	})
}

func TestUnary_panics(t *testing.T) {
	require.Panics(t, func() { Unary(Abs, make([]float32, 3), make([]float32, 4), 0, 0) })
	require.Panics(t, func() { Unary(numUnary, make([]float32, 4), make([]float32, 4), 0, 0) })
	require.Panics(t, func() { BinaryVV(Add, make([]float32, 4), make([]float32, 4), make([]float32, 3)) })
	require.Panics(t, func() { BinaryVS(numBinary, make([]float32, 4), make([]float32, 4), 1) })
}

func scalarBin(op BinaryOp, a, b float32) float32 {
	switch op {
	case Add:
		return a + b
	case Sub:
		return a - b
	case Mul:
		return a * b
	case Div:
		return a / b
	case Min:
		return float32(math.Min(float64(a), float64(b)))
	case Pow:
		return float32(math.Pow(float64(a), float64(b)))
	}
	return float32(math.Max(float64(a), float64(b)))
}

// minNaN corrects math.Min and math.Max, where an infinity beats NaN.
func wantBin(op BinaryOp, a, b float32) float32 {
	if (op == Min || op == Max) && (a != a || b != b) {
		return float32(math.NaN())
	}
	return scalarBin(op, a, b)
}

func TestBinary_everyPattern(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		for op := range numBinary {
			for _, n := range lengths() {
				off := n % 16
				a, b, out := newGuarded(n, off), newGuarded(n, off+1), newGuarded(n, off+2)
				copy(a.data, withSpecials(uint64(n), n))
				copy(b.data, withSpecials(uint64(n+7), n))
				s := specials[n%len(specials)]
				expect := func(what string, f func(i int) float32) {
					t.Helper()
					out.check(t, what)
					for i := range n {
						w := f(i)
						if op == Pow && w == w && ulps(out.data[i], float64(w)) <= 1 {
							continue
						}
						if !same(w, out.data[i], op >= Min) {
							t.Fatalf("%v %s [%d of %d] a %v b %v s %v: want %v, got %v", op, what, i, n, a.data[i], b.data[i], s, w,
								out.data[i])
						}
					}
				}
				BinaryVV(op, out.data, a.data, b.data)
				expect("VV", func(i int) float32 { return wantBin(op, a.data[i], b.data[i]) })
				BinaryVS(op, out.data, a.data, s)
				expect("VS", func(i int) float32 { return wantBin(op, a.data[i], s) })
				BinarySV(op, out.data, s, b.data)
				expect("SV", func(i int) float32 { return wantBin(op, s, b.data[i]) })
				want := append([]float32(nil), a.data...)
				copy(out.data, b.data)
				BinaryVV(op, out.data, a.data, out.data)
				expect("in place", func(i int) float32 { return wantBin(op, want[i], b.data[i]) })
			}
		}
	})
}

func TestBinary_rows(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		for _, d := range [][2]int{{3, 5}, {1, 33}, {17, 1}, {4, 64}, {0, 7}, {5, 0}} {
			rows, cols := d[0], d[1]
			a, row := randSlice(1, rows*cols), randSlice(2, cols)
			out := newGuarded(rows*cols, 5)
			BinaryRows(Sub, out.data, a, row, rows, cols)
			out.check(t, "rows")
			for i := range rows * cols {
				require.Equal(t, a[i]-row[i%cols], out.data[i])
			}
		}
	})
}

func TestElementwise_longSlices(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		n := 3*binaryBlock + 5
		a := randSlice(1, n)
		out := newGuarded(n, 1)
		BinaryVS(Mul, out.data, a, 2)
		out.check(t, "long")
		for i := range a {
			require.Equal(t, 2*a[i], out.data[i])
		}
		Unary(Neg, out.data, a, 0, 0)
		for i := range a {
			require.Equal(t, -a[i], out.data[i])
		}
	})
}

func BenchmarkUnary(b *testing.B) {
	benchISA(b, func(b *testing.B) {
		for op := Clamp; op < numUnary; op++ {
			b.Run(fmt.Sprint(op), func(b *testing.B) {
				x, y := Aligned[float32](4096), Aligned[float32](4096)
				fillRand(rng(1), x)
				b.SetBytes(4 * 4096)
				for b.Loop() {
					Unary(op, y, x, 0.1, 0.9)
				}
			})
		}
	})
}
