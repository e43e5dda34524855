package main

import "math"

const signBit = 0x80000000

func (g *gen) f(x float64) *reg { return g.bits(math.Float32bits(float32(x))) }

// op is an instruction of two operands with a fresh result.
func (g *gen) op(name string, a ...any) *reg { return g.v(name, g.vec(), a...) }

func (g *gen) add(a, b *reg) *reg { return g.op("fadd.4s", a, b) }
func (g *gen) sub(a, b *reg) *reg { return g.op("fsub.4s", a, b) }
func (g *gen) mul(a, b *reg) *reg { return g.op("fmul.4s", a, b) }
func (g *gen) div(a, b *reg) *reg { return g.op("fdiv.4s", a, b) }
func (g *gen) copy(a *reg) *reg   { return g.op("mov.16b", a) }

// fma is c + a*b, fnma is c - a*b; c stays.
func (g *gen) fma(c, a, b *reg) *reg  { return g.v("fmla.4s", g.copy(c), a, b) }
func (g *gen) fnma(c, a, b *reg) *reg { return g.v("fmls.4s", g.copy(c), a, b) }

// poly evaluates c[0]*x^(n-1) + ... + c[n-1] by Horner's rule.
func (g *gen) poly(x *reg, c ...uint32) *reg {
	p := g.bits(c[0])
	for _, b := range c[1:] {
		p = g.fma(g.bits(b), p, x)
	}
	return p
}

// pick is a < b ? yes : no, lane by lane; no when either is NaN.
func (g *gen) pick(a, b, yes, no *reg) *reg {
	return g.v("bsl.16b", g.op("fcmgt.4s", b, a), yes, no)
}

// clampTo lets NaN through.
func (g *gen) clampTo(x, lo, hi *reg) *reg {
	r := g.op("fmax.4s", x, lo)
	return g.v("fmin.4s", r, r, hi)
}

// clampKept is clampTo that keeps the sign of a zero inside the bounds, in place.
func (g *gen) clampKept(x, lo, hi *reg) *reg {
	g.v("bit.16b", x, lo, g.op("fcmgt.4s", lo, x))
	return g.v("bit.16b", x, hi, g.op("fcmgt.4s", x, hi))
}

func (g *gen) abs(x *reg) *reg { return g.op("fabs.4s", x) }

// minusAbs is -|x|.
func (g *gen) minusAbs(x *reg) *reg { return g.op("orr.16b", x, g.bits(signBit)) }

// copySign gives x >= 0 the sign of s.
func (g *gen) copySign(x, s *reg) *reg { return g.v("bit.16b", g.copy(x), s, g.bits(signBit)) }

// reduced is n = round(x/ln2) and r = x - n*ln2.
func (g *gen) reduced(x *reg) (n, r *reg) {
	n = g.mul(x, g.bits(0x3fb8aa3b))
	g.v("frintn.4s", n, n)
	r = g.fnma(x, n, g.bits(0x3f317218))
	g.v("fmls.4s", r, n, g.bits(0xb102e308))
	return n, r
}

// expPart is r + r^2*P(r), which is exp(r) - 1 for |r| <= ln2/2.
func (g *gen) expPart(r *reg) *reg {
	p := g.poly(r, 0x3ab50d36, 0x3c091fe3, 0x3d2aac8b, 0x3e2aaa45, 0x3efffffe)
	return g.fma(r, g.mul(r, r), p)
}

// power is 2^i for integers.
func (g *gen) power(i *reg) *reg {
	e := g.op("add.4s", i, g.bits(127))
	return g.v("shl.4s", e, e, 23)
}

// exp is 2^n * (1 + r + r^2*P(r)), in two factors, so that results down to the denormals come out.
func (g *gen) exp(x *reg) *reg {
	g.comment("exp: n = round(x/ln2), r = x - n*ln2, 2^n * (1 + r + r^2*P(r))")
	n, r := g.reduced(g.clampTo(x, g.f(-104), g.f(89)))
	p := g.add(g.expPart(r), g.f(1))
	i := g.op("fcvtns.4s", n)
	h := g.op("sshr.4s", i, 1)
	g.v("sub.4s", i, i, h)
	p = g.mul(p, g.power(h))
	return g.mul(p, g.power(i))
}

// rounded is n = round(x*scale), and i, which has n + bias as its lowest bits.
func (g *gen) rounded(x *reg, scale uint32, bias int) (n, i *reg) {
	magic := g.f(float64(3<<22 + bias))
	i = g.fma(magic, x, g.bits(scale))
	return g.sub(i, magic), i
}

// powerOf is 2^(i-127) for an integer in the lowest nine bits, from 1 to 254.
func (g *gen) powerOf(i *reg) *reg { return g.op("shl.4s", i, 23) }

// sigmoid is c/(c + c*exp(-x)) for c = 2^-32, with which no exponential overflows.
func (g *gen) sigmoid(x *reg) *reg {
	y := g.op("fneg.4s", g.clampTo(x, g.f(-104), g.f(30)))
	n, i := g.rounded(y, 0x3fb8aa3b, 127-32)
	g.v("fmls.4s", y, n, g.bits(0x3f317218))
	g.v("fmls.4s", y, n, g.bits(0xb102e308))
	f, c := g.powerOf(i), g.f(1.0/(1<<32))
	return g.div(c, g.fma(g.add(f, c), g.expPart(y), f))
}

// tanh is q/(q+2) for q = exp(2|x|)-1, with the sign of x.
func (g *gen) tanh(x *reg) *reg {
	a := g.op("fmin.4s", g.abs(x), g.f(10))
	q := g.expm1Part(g.add(a, a))
	return g.copySign(g.div(q, g.add(q, g.f(2))), x)
}

// erf: x*P(x^2) below 1, 1-exp(Q(|x|)) up to 4, where it rounds to 1.
func (g *gen) erf(x *reg) *reg {
	a := g.abs(x)
	p := g.erfBelowOne(a)
	c := g.clampTo(a, g.f(0), g.f(4))
	q := g.exp(g.poly(c, 0x39436d48, 0xbb412c93, 0x3cb2e546, 0xbdd32964, 0xbf235d7f, 0xbf904473, 0xb9b31963))
	return g.copySign(g.pick(a, g.f(1), p, g.sub(g.f(1), q)), x)
}

// expm1: for x <= 0, with q = exp(r)-1 the result is 2^n*q + (2^n - 1).
func (g *gen) expm1(x *reg) *reg { return g.expm1Part(g.clampTo(x, g.f(-30), g.f(0))) }

// expm1Part is expm1 of -30 <= x <= 20. Of a large result n*1.9e-9 of it are missing, for n = x/ln2. x is written.
func (g *gen) expm1Part(x *reg) *reg {
	n, i := g.rounded(x, 0x3fb8aa3b, 127)
	g.v("fmls.4s", x, n, g.bits(0x3f317218))
	s := g.powerOf(i)
	return g.fma(g.sub(s, g.f(1)), s, g.expPart(x))
}

// log: x = 2^e*m with m in [sqrt(1/2), sqrt(2)), log(m) = t - t^2/2 + t^3*Q(t) for t = m-1. Denormals are scaled up
// first; special values are put in at the end.
func (g *gen) log(x *reg) *reg {
	tiny := g.bits(0x00800000)
	y := g.pick(x, tiny, g.mul(x, g.f(1<<25)), x)
	bias := g.op("and.16b", g.op("fcmgt.4s", tiny, x), g.f(-25))
	i := g.op("sub.4s", y, g.bits(0x3f3504f3))
	g.v("sshr.4s", i, i, 23)
	e := g.add(g.op("scvtf.4s", i), bias)
	g.v("shl.4s", i, i, 23)
	t := g.sub(g.op("sub.4s", y, i), g.f(1))
	q := g.poly(t, 0x3d918407, 0xbdf4fc13, 0x3df36ee2, 0xbdfd1c96, 0x3e118bb2, 0xbe2ab452, 0x3e4cd362, 0xbe7fffee,
		0x3eaaaaa2)
	tt := g.mul(t, t)
	q = g.add(g.mul(q, t), g.f(-0.5))
	q = g.mul(q, tt) // t^3*Q - t^2/2
	g.v("fmla.4s", q, e, g.bits(0xb95e8083))
	q = g.add(q, t)
	g.v("fmla.4s", q, e, g.bits(0x3f318000))
	q = g.pick(x, g.bits(0x7f800000), q, x)
	q = g.pick(x, g.f(0), g.bits(0x7fc00000), q)
	return g.pick(g.abs(x), g.bits(1), g.bits(0xff800000), q)
}

// softplus is max(x, 0) + log(1+u) for u = exp(-|x|). The logarithm is 2*atanh(t) for t = u/(u+2), an odd polynomial
// for t from 0 to 1/3.
func (g *gen) softplus(x *reg) *reg {
	u := g.exp(g.minusAbs(x))
	t := g.div(u, g.add(u, g.f(2)))
	z := g.mul(t, t)
	l := g.fma(g.add(t, t), g.mul(z, t), g.poly(z, 0x3e8f6be1, 0x3e8f5e86, 0x3ecce904, 0x3f2aaa81))
	return g.add(l, g.op("fmax.4s", x, g.f(0)))
}

// mish is x*n/(n+2) for n = e*(e+2), e = exp(x); beyond 20 it is x.
func (g *gen) mish(x *reg) *reg {
	e := g.exp(g.op("fmin.4s", x, g.f(20)))
	n := g.mul(e, g.add(e, g.f(2)))
	return g.pick(x, g.f(20), g.mul(x, g.div(n, g.add(n, g.f(2)))), x)
}

// erfBelowOne is a*P(a^2), which is erf(a) for a from 0 to 1.
func (g *gen) erfBelowOne(a *reg) *reg {
	p := g.poly(g.mul(a, a), 0x38a4b540, 0xba51fb8e, 0x3baa02db, 0xbcdbfc87, 0x3de7167c, 0xbec0939f, 0x3f906eba)
	return g.mul(p, a)
}

// gelu is x/2 * erfc(-x/sqrt(2)). For a = |x|/sqrt(2), erfc(a) is 1-a*P(a^2) below 1 and exp(Q(a)) above, which keeps
// its digits where it is small; from 10.3 on it is 0.
func (g *gen) gelu(x *reg) *reg {
	a := g.abs(g.mul(x, g.f(0.70710678118654752440)))
	c := g.clampTo(a, g.f(0), g.f(10.3))
	q := g.exp(g.poly(c, 0xb2f3389f, 0x35c63b58, 0xb80de5d7, 0x39ec3aea, 0xbb801440, 0x3cc146dc, 0xbdd60519, 0xbf236412,
		0xbf90299f, 0xba3512db))
	e := g.pick(a, g.f(1), g.sub(g.f(1), g.erfBelowOne(a)), q)
	return g.mul(g.mul(x, g.f(0.5)), g.pick(x, g.f(0), e, g.sub(g.f(2), e)))
}
