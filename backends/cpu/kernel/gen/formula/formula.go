// Package formula has functions of float32 values as vectors of float64 compute them, for all instruction sets. The
// relative error is below 2^-30, and the result is rounded to float32 once.
//
// Coefficients interpolate the power series of a function at the Chebyshev nodes of an interval that is named.
package formula

import "math"

// Machine has the operations of an instruction set on vectors of float64. Results are new values; operands stay.
type Machine[V any] interface {
	// Number is x in all lanes, Bits a number of such bits.
	Number(x float64) V
	Bits(b uint64) V

	Add(a, b V) V
	Sub(a, b V) V
	Mul(a, b V) V
	Div(a, b V) V
	Sqrt(a V) V
	// FMA is a*b + c and FNMA c - a*b, rounded once.
	FMA(a, b, c V) V
	FNMA(a, b, c V) V
	// Poly is c[0]*x^(n-1) + ... + c[n-1].
	Poly(x V, c ...float64) V
	// Min and Max give NaN when a is NaN; b is never.
	Min(a, b V) V
	Max(a, b V) V
	// Pick is a < b ? yes : no, and no when either is NaN; PickSign is yes where the sign bit of a is set.
	Pick(a, b, yes, no V) V
	PickSign(a, yes, no V) V

	// Functions of bits, and of integers of 64 bits.
	And(a, b V) V
	Or(a, b V) V
	Xor(a, b V) V
	AddBits(a, b V) V
	SubBits(a, b V) V
	Left(a V, n int) V
	Right(a V, n int) V
}

const (
	sign     = 1 << 63
	exponent = 0x7ff << 52
	beyond   = 3.5e38 // more than any finite float32
)

// magic, added to a small number, leaves the nearest integer in the lowest bits.
const magic = 3 << 51

func absolute[V any](m Machine[V], x V) V { return m.And(x, m.Bits(sign-1)) }

// signed gives x >= 0 the sign of s.
func signed[V any](m Machine[V], x, s V) V { return m.Or(x, m.And(s, m.Bits(sign))) }

// turns is x = n*pi/2 + r with |r| <= pi/4, for |x| < 2^31. The lowest bits of n equal the integer's.
func turns[V any](m Machine[V], x V) (n, r V) {
	n = m.FMA(x, m.Number(2/math.Pi), m.Number(magic))
	k := m.Sub(n, m.Number(magic))
	r = m.FNMA(k, m.Number(math.Pi/2), x)
	return n, m.FNMA(k, m.Number(6.123233995736766e-17), r)
}

// sine is sin(r) and cosine cos(r) for |r| <= pi/4, with z = r^2.
func sine[V any](m Machine[V], r, z V) V {
	return m.Mul(r, m.Poly(z, -2.4805636241834762e-08, 2.7555990929565319e-06, -0.00019841266916985966,
		0.0083333333310792231, -0.16666666666663885, 1))
}

func cosine[V any](m Machine[V], z V) V {
	return m.Poly(z, 2.0700600483433117e-09, -2.7556369695573007e-07, 2.4801585210990515e-05, -0.0013888888887277342,
		0.04166666666666468, -0.5, 1)
}

// Sin is the sine of |x| < 2^31.
func Sin[V any](m Machine[V], x V) V {
	n, r := turns(m, x)
	return quadrant(m, n, r)
}

// Cos is the cosine of |x| < 2^31.
func Cos[V any](m Machine[V], x V) V {
	n, r := turns(m, x)
	return quadrant(m, m.AddBits(n, m.Bits(1)), r)
}

// quadrant is sin(r + n*pi/2): a sine or a cosine by the last bit of n, negative by the one before.
func quadrant[V any](m Machine[V], n, r V) V {
	z := m.Mul(r, r)
	y := m.PickSign(m.Left(n, 63), cosine(m, z), sine(m, r, z))
	return m.Xor(y, m.And(m.Left(n, 62), m.Bits(sign)))
}

// Tan is the tangent of |x| < 2^31.
func Tan[V any](m Machine[V], x V) V {
	n, r := turns(m, x)
	z := m.Mul(r, r)
	s, c, odd := sine(m, r, z), cosine(m, z), m.Left(n, 63)
	return m.Xor(m.Div(m.PickSign(odd, c, s), m.PickSign(odd, s, c)), odd)
}

// arc is asin(b) for 0 <= b <= 1/2, with z = b^2.
func arc[V any](m Machine[V], b, z V) V {
	return m.Mul(b, m.Poly(z, 0.02834674523183333, 0.0010675063150363097, 0.01686409027396012, 0.016902683886393575,
		0.022412417726695433, 0.030379945210024933, 0.044642906474584965, 0.074999999534297118, 0.16666666666738633, 1))
}

// halved is p = asin(a) for a = |x| <= 1/2, and beyond it asin(sqrt((1-a)/2)), which is half of acos(a).
func halved[V any](m Machine[V], x V) (a, p V) {
	a = absolute(m, x)
	half := m.Number(0.5)
	w := m.FNMA(half, a, half)
	return a, arc(m, m.Pick(half, a, m.Sqrt(w), a), m.Pick(half, a, w, m.Mul(a, a)))
}

// Asin is the arc sine.
func Asin[V any](m Machine[V], x V) V {
	a, p := halved(m, x)
	y := m.Pick(m.Number(0.5), a, m.FNMA(m.Number(2), p, m.Number(math.Pi/2)), p)
	return signed(m, y, x)
}

// Acos is the arc cosine.
func Acos[V any](m Machine[V], x V) V {
	a, p := halved(m, x)
	twice := m.Add(p, p)
	far := m.PickSign(x, m.Sub(m.Number(math.Pi), twice), twice)
	return m.Pick(m.Number(0.5), a, far, m.Sub(m.Number(math.Pi/2), signed(m, p, x)))
}

// Atan is the arc tangent: by the tangent of the difference to 0, pi/4 or pi/2, which is at most tan(pi/8).
func Atan[V any](m Machine[V], x V) V {
	a, one := absolute(m, x), m.Number(1)
	low, high := m.Number(0.41421356237309503), m.Number(2.4142135623730949)
	t := m.Div(m.Pick(low, a, m.Pick(high, a, m.Number(-1), m.Sub(a, one)), a),
		m.Pick(low, a, m.Pick(high, a, a, m.Add(a, one)), one))
	from := m.Pick(low, a, m.Pick(high, a, m.Number(math.Pi/2), m.Number(math.Pi/4)), m.Number(0))
	z := m.Mul(t, t)
	p := m.Poly(z, 0.032954991143053267, -0.060272065701111648, 0.076047780035556789, -0.090840995224930762,
		0.11110819586603747, -0.14285708106991879, 0.19999999949822453, -0.33333333333266146)
	p = m.FMA(m.Mul(t, z), p, t)
	return signed(m, m.Add(from, p), x)
}

// exp is e^x for |x| <= 700: 2^n * e^r with |r| <= ln(2)/2.
func exp[V any](m Machine[V], x V) V {
	n := m.FMA(x, m.Number(math.Log2E), m.Number(magic))
	r := m.FNMA(m.Sub(n, m.Number(magic)), m.Number(math.Ln2), x)
	p := m.Poly(r, 2.487616402262597e-05, 0.00019915866926782682, 0.0013888821677630362, 0.0083332660979496143,
		0.041666666890957001, 0.16666666891045775, 0.49999999999797934, 0.99999999997978517, 1)
	return m.AddBits(p, m.Left(n, 52))
}

// exp2 is 2^x for |x| <= 1000: 2^n * 2^r with |r| <= 1/2.
func exp2[V any](m Machine[V], x V) V {
	n := m.Add(x, m.Number(magic))
	r := m.Sub(x, m.Sub(n, m.Number(magic)))
	p := m.Poly(r, 1.0205905413765595e-07, 1.3259645244887111e-06, 1.5252672924850737e-05, 0.0001540343375125101,
		0.0013333558200794592, 0.0096181291939343126, 0.05550410866465167, 0.24022650695640341, 0.69314718055994617, 1)
	return m.AddBits(p, m.Left(n, 52))
}

// logs is x = 2^e*c with c in [sqrt(1/2), sqrt(2)), and l = log(c), for x > 0 that is finite.
func logs[V any](m Machine[V], x V) (e, l V) {
	one := math.Float64bits(1)
	u := m.AddBits(x, m.Bits(one-math.Float64bits(math.Sqrt2/2)))
	e = m.Sub(m.Or(m.Right(u, 52), m.Number(1<<52)), m.Number(1<<52+1023))
	c := m.AddBits(m.SubBits(x, m.And(u, m.Bits(exponent))), m.Bits(one))
	s := m.Div(m.Sub(c, m.Number(1)), m.Add(c, m.Number(1)))
	return e, m.Mul(s, m.Poly(m.Mul(s, s), 0.16621817152858928, 0.18140193802865992, 0.22222862280108716,
		0.28571424138324159, 0.40000000011206505, 0.66666666666662078, 2))
}

// log is the natural logarithm of x > 0, which may be infinite, or NaN.
func log[V any](m Machine[V], x V) V {
	e, l := logs(m, x)
	return m.Pick(x, m.Number(math.MaxFloat64), m.FMA(e, m.Number(math.Ln2), l), x)
}

// Sinh is the hyperbolic sine.
func Sinh[V any](m Machine[V], x V) V {
	a := absolute(m, x)
	e := exp(m, m.Min(a, m.Number(100)))
	y := m.Mul(m.Number(0.5), m.Sub(e, m.Div(m.Number(1), e)))
	small := m.Mul(a, m.Poly(m.Mul(a, a), 1.0/5040, 1.0/120, 1.0/6, 1))
	return signed(m, m.Pick(a, m.Number(0.25), small, y), x)
}

// Cosh is the hyperbolic cosine.
func Cosh[V any](m Machine[V], x V) V {
	e := exp(m, m.Min(absolute(m, x), m.Number(100)))
	return m.Mul(m.Number(0.5), m.Add(e, m.Div(m.Number(1), e)))
}

// Asinh is the inverse of the hyperbolic sine.
func Asinh[V any](m Machine[V], x V) V {
	a := absolute(m, x)
	z := m.Mul(a, a)
	y := log(m, m.Add(a, m.Sqrt(m.Add(z, m.Number(1)))))
	small := m.Mul(a, m.Poly(z, -1.0/6, 1))
	return signed(m, m.Pick(a, m.Number(1.0/4096), small, y), x)
}

// Acosh is the inverse of the hyperbolic cosine, NaN below 1.
func Acosh[V any](m Machine[V], x V) V {
	y := log(m, m.Add(x, m.Sqrt(m.Sub(m.Mul(x, x), m.Number(1)))))
	return m.Pick(x, m.Number(1), m.Number(math.NaN()), y)
}

// Atanh is the inverse of the hyperbolic tangent, NaN beyond 1.
func Atanh[V any](m Machine[V], x V) V {
	a, one := absolute(m, x), m.Number(1)
	y := m.Mul(m.Number(0.5), log(m, m.Div(m.Add(one, a), m.Sub(one, a))))
	y = m.Pick(one, a, m.Number(math.NaN()), y)
	small := m.Mul(a, m.Poly(m.Mul(a, a), 1.0/3, 1))
	return signed(m, m.Pick(a, m.Number(1.0/4096), small, y), x)
}

// Pow is x to the power of y, with the special cases of C's pow.
func Pow[V any](m Machine[V], x, y V) V {
	a, tiny, zero, one := absolute(m, x), m.Number(1e-50), m.Number(0), m.Number(1)
	y = m.Max(m.Min(y, m.Number(1e30)), m.Number(-1e30)) // an infinite power, too, gives 0, 1 or infinity
	e, l := logs(m, a)
	l = m.FMA(l, m.Number(math.Log2E), e)
	l = m.Pick(a, tiny, m.Number(math.Inf(-1)), l)
	l = m.Pick(a, m.Number(beyond), l, a)
	r := exp2(m, m.Max(m.Min(m.Mul(y, l), m.Number(200)), m.Number(-200)))
	r = m.Pick(absolute(m, y), tiny, one, r)
	r = m.Pick(absolute(m, m.Sub(x, one)), tiny, one, r)

	// Of a negative number: the sign by the last bit of an integer, NaN of a fraction.
	w := m.Min(absolute(m, y), m.Number(1<<40))
	n := m.Add(w, m.Number(1<<52))
	fraction := absolute(m, m.Sub(w, m.Sub(n, m.Number(1<<52))))
	flip := m.And(m.Left(n, 63), x)
	r = m.Xor(r, m.Pick(zero, fraction, zero, flip))
	bad := m.Pick(x, m.Number(-1e-50), m.Pick(a, m.Number(math.Inf(1)), m.Number(math.NaN()), r), r)
	return m.Pick(zero, fraction, bad, r)
}
