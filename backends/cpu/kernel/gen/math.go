package main

import (
	"math"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// v is a fresh vector register, chosen by avo.
func (g *gen) v() reg.VecVirtual {
	if g.wide() {
		return g.ZMM()
	}
	return g.YMM()
}

func (g *gen) f(x float64) operand.Mem { return g.bcast(math.Float32bits(float32(x))) }

type vop func(ops ...operand.Op)

// bin is the result of a three-operand instruction: y op x.
func (g *gen) bin(op vop, x, y operand.Op) reg.VecVirtual {
	r := g.v()
	op(x, y, r)
	return r
}

func (g *gen) mov(m operand.Op) reg.VecVirtual {
	r := g.v()
	g.VMOVUPS(m, r)
	return r
}

// poly evaluates c[0]*x^(n-1) + ... + c[n-1] by Horner's rule.
func (g *gen) poly(x reg.Register, c ...uint32) reg.VecVirtual {
	p := g.mov(g.bcast(c[0]))
	for _, b := range c[1:] {
		g.VFMADD213PS(g.bcast(b), x, p)
	}
	return p
}

const (
	predLess  = 0x11
	predUnord = 0x03
	signBit   = 0x80000000
)

// pick is a < b ? yes : no, lane by lane; no when either is NaN.
func (g *gen) pick(a reg.Register, b operand.Op, yes, no reg.Register) reg.VecVirtual {
	r := g.v()
	if g.wide() {
		k := g.K()
		g.VCMPPS(operand.U8(predLess), b, a, k)
		g.VBLENDMPS(yes, no, k, r)
		return r
	}
	m := g.v()
	g.VCMPPS(operand.U8(predLess), b, a, m)
	g.VBLENDVPS(m, yes, no, r)
	return r
}

// clampTo lets NaN through.
func (g *gen) clampTo(x reg.Register, lo, hi operand.Op) reg.VecVirtual {
	l, h := g.v(), g.v()
	g.VMOVUPS(lo, l)
	g.VMOVUPS(hi, h)
	g.VMAXPS(x, l, l)
	g.VMINPS(l, h, h)
	return h
}

func (g *gen) abs(x reg.Register) reg.VecVirtual {
	return g.bin(g.and(), g.bcast(^uint32(signBit)), x)
}

func (g *gen) and() vop {
	if g.wide() {
		return g.VPANDD
	}
	return func(o ...operand.Op) { g.VANDPS(o[0], o[1], o[2]) }
}

func (g *gen) or() vop {
	if g.wide() {
		return g.VPORD
	}
	return func(o ...operand.Op) { g.VORPS(o[0], o[1], o[2]) }
}

func (g *gen) xor() vop {
	if g.wide() {
		return g.VPXORD
	}
	return func(o ...operand.Op) { g.VXORPS(o[0], o[1], o[2]) }
}

// round rounds to an integral value; mode 0 to even, 1 down, 2 up.
func (g *gen) round(x reg.Register, mode uint8) reg.VecVirtual {
	r := g.v()
	if g.wide() {
		g.VRNDSCALEPS(operand.U8(mode|8), x, r)
	} else {
		g.VROUNDPS(operand.U8(mode|8), x, r)
	}
	return r
}

// copySign gives x >= 0 the sign of s.
func (g *gen) copySign(x, s reg.Register) reg.VecVirtual {
	return g.bin(g.or(), x, g.bin(g.and(), g.bcast(signBit), s))
}

// exp: x = n*ln2 + r with |r| <= ln2/2, then 2^n * (1 + r + r^2*P(r)).
func (g *gen) exp(x reg.Register) reg.VecVirtual {
	return g.expBelow(g.bin(g.VMINPS, x, g.mov(g.f(89))))
}

// atLeast lets NaN through.
func (g *gen) atLeast(x reg.Register, lo operand.Op) reg.VecVirtual {
	return g.bin(g.VMAXPS, x, g.mov(lo))
}

// expBelow is exp of x <= 89.
func (g *gen) expBelow(x reg.Register) reg.VecVirtual {
	g.Comment("exp: n = round(x/ln2), r = x - n*ln2, 2^n * (1 + r + r^2*P(r))")
	if g.wide() {
		return g.expScaled(g.atLeast(x, g.f(-104)))
	}
	// Two factors, so that results down to the denormals come out: 2^h and 2^(n-h) for h = n/2, rounded down.
	i, r := g.reduced(g.atLeast(x, g.f(-104)), 2*127, false)
	p := g.bin(g.VADDPS, g.f(1), g.expPart(r))
	h := g.v()
	g.VPSRLD(operand.U8(1), i, h)
	g.VPSUBD(h, i, i)
	for _, e := range []reg.VecVirtual{h, i} {
		p = g.bin(g.VMULPS, g.power(e), p)
	}
	return p
}

// expNegative is exp of x <= 0.
func (g *gen) expNegative(x reg.Register) reg.VecVirtual {
	y := g.atLeast(x, g.f(-104))
	if g.wide() {
		return g.expScaled(y)
	}
	i, r := g.reduced(y, 127+64, false)
	p := g.bin(g.VADDPS, g.f(1), g.expPart(r))
	return g.bin(g.VMULPS, g.f(1.0/(1<<64)), g.bin(g.VMULPS, g.power(i), p))
}

// expShort is exp of -20 <= x <= 0 with an absolute error below 1e-8, but for that of rounding. x is written.
func (g *gen) expShort(x reg.VecVirtual) reg.VecVirtual {
	if g.wide() {
		return g.expScaled(x)
	}
	i, r := g.reduced(x, 127, true)
	return g.bin(g.VMULPS, g.power(i), g.bin(g.VADDPS, g.f(1), g.expPart(r)))
}

// expScaled is exp of -104 <= x <= 89 by AVX-512, whose scaling makes denormals and infinities. x is written.
func (g *gen) expScaled(x reg.VecVirtual) reg.VecVirtual {
	n := g.round(g.bin(g.VMULPS, g.bcast(0x3fb8aa3b), x), 0)
	g.VFNMADD231PS(g.bcast(0x3f317218), n, x)
	g.VFNMADD231PS(g.bcast(0xb102e308), n, x)
	return g.bin(g.VSCALEFPS, n, g.bin(g.VADDPS, g.f(1), g.expPart(x)))
}

// rounded is n = round(x*scale), and i, which has n + bias as its lowest bits.
func (g *gen) rounded(x reg.Register, scale uint32, bias int) (n, i reg.VecVirtual) {
	magic := g.f(float64(3<<22 + bias))
	i = g.mov(magic)
	g.VFMADD231PS(g.bcast(scale), x, i)
	return g.bin(g.VSUBPS, magic, i), i
}

// reduced is r = x - n*ln2 for n = round(x/ln2), and i, which has n + bias as its lowest bits. x becomes r. Of a short
// r, n*1.9e-9 are missing.
func (g *gen) reduced(x reg.VecVirtual, bias int, short bool) (i, r reg.VecVirtual) {
	n, i := g.rounded(x, 0x3fb8aa3b, bias)
	g.VFNMADD231PS(g.bcast(0x3f317218), n, x)
	if !short {
		g.VFNMADD231PS(g.bcast(0xb102e308), n, x)
	}
	return i, x
}

// power is 2^(i-127) for an integer in the lowest nine bits, from 1 to 254.
func (g *gen) power(i reg.Register) reg.VecVirtual {
	r := g.v()
	g.VPSLLD(operand.U8(23), i, r)
	return r
}

// expPart is r + r^2*P(r), which is exp(r) - 1 for |r| <= ln2/2.
func (g *gen) expPart(r reg.Register) reg.VecVirtual {
	p := g.poly(r, 0x3ab50d36, 0x3c091fe3, 0x3d2aac8b, 0x3e2aaa45, 0x3efffffe)
	g.VFMADD213PS(r, g.bin(g.VMULPS, r, r), p)
	return p
}

// sigmoid is c/(c + c*exp(-x)) for c = 2^-32, with which no exponential overflows. r has the opposite sign: -x is
// n*ln2 - r.
func (g *gen) sigmoid(x reg.Register) reg.VecVirtual {
	r := g.bin(g.VMINPS, g.atLeast(x, g.f(-104)), g.mov(g.f(30)))
	n, i := g.rounded(r, 0xbfb8aa3b, 127-32)
	g.VFMADD231PS(g.bcast(0x3f317218), n, r)
	g.VFMADD231PS(g.bcast(0xb102e308), n, r)
	p := g.poly(r, 0x3ab50d36, 0xbc091fe3, 0x3d2aac8b, 0xbe2aaa45, 0x3efffffe)
	g.VFMSUB213PS(r, g.bin(g.VMULPS, r, r), p) // exp(-r) - 1
	f, c := g.power(i), g.f(1.0/(1<<32))
	g.VFMADD213PS(g.bin(g.VADDPS, c, f), f, p)
	return g.bin(g.VDIVPS, p, g.mov(c))
}

// tanh is q/(q+2) for q = exp(2|x|)-1, with the sign of x.
func (g *gen) tanh(x reg.Register) reg.VecVirtual {
	a := g.bin(g.VMINPS, g.abs(x), g.mov(g.f(10)))
	q := g.expm1Part(g.add(a, a))
	return g.copySign(g.bin(g.VDIVPS, g.bin(g.VADDPS, g.f(2), q), q), x)
}

// erfBelowOne is a*P(a^2), which is erf(a) for a from 0 to 1.
func (g *gen) erfBelowOne(a reg.Register) reg.VecVirtual {
	z := g.bin(g.VMULPS, a, a)
	p := g.poly(z, 0x38a4b540, 0xba51fb8e, 0x3baa02db, 0xbcdbfc87, 0x3de7167c, 0xbec0939f, 0x3f906eba)
	return g.bin(g.VMULPS, a, p)
}

// erf: x*P(x^2) below 1, 1-exp(Q(|x|)) up to 4, where it rounds to 1.
func (g *gen) erf(x reg.Register) reg.VecVirtual {
	a := g.abs(x)
	p := g.erfBelowOne(a)
	c := g.bin(g.VMINPS, a, g.mov(g.f(4)))
	q := g.expShort(g.poly(c, 0x39436d48, 0xbb412c93, 0x3cb2e546, 0xbdd32964, 0xbf235d7f, 0xbf904473, 0xb9b31963))
	big := g.bin(g.VSUBPS, q, g.mov(g.f(1)))
	return g.copySign(g.pick(a, g.f(1), p, big), x)
}

// expm1: for x <= 0, with q = exp(r)-1 the result is 2^n*q + (2^n - 1).
func (g *gen) expm1(x reg.Register) reg.VecVirtual {
	return g.expm1Below(g.bin(g.VMINPS, x, g.mov(g.f(0))))
}

// expm1Below is expm1 of x <= 0.
func (g *gen) expm1Below(x reg.Register) reg.VecVirtual { return g.expm1Part(g.atLeast(x, g.f(-30))) }

// expm1Part is expm1 of -30 <= x <= 20. Of a large result n*1.9e-9 of it are missing, for n = x/ln2. x is written.
func (g *gen) expm1Part(x reg.VecVirtual) reg.VecVirtual {
	i, r := g.reduced(x, 127, true)
	q, s := g.expPart(r), g.power(i)
	g.VFMADD213PS(g.bin(g.VSUBPS, g.f(1), s), s, q)
	return q
}

// log: x = 2^e*m with m in [sqrt(1/2), sqrt(2)), log(m) = t - t^2/2 + t^3*Q(t)
// for t = m-1. Denormals are scaled up first; special values are put in at the end.
func (g *gen) log(x reg.Register) reg.VecVirtual {
	tiny := g.mov(g.bcast(0x00800000))
	y := g.pick(x, tiny, g.bin(g.VMULPS, g.f(1<<25), x), x)
	bias := g.pick(x, tiny, g.mov(g.f(-25)), g.mov(g.f(0)))
	i := g.v()
	g.VPSUBD(g.bcast(0x3f3504f3), y, i)
	g.VPSRAD(operand.U8(23), i, i)
	e := g.v()
	g.VCVTDQ2PS(i, e)
	e = g.add(e, bias)
	g.VPSLLD(operand.U8(23), i, i)
	m := g.v()
	g.VPSUBD(i, y, m)
	t := g.bin(g.VSUBPS, g.f(1), m)
	q := g.poly(t, 0x3d918407, 0xbdf4fc13, 0x3df36ee2, 0xbdfd1c96, 0x3e118bb2, 0xbe2ab452, 0x3e4cd362, 0xbe7fffee,
		0x3eaaaaa2)
	tt := g.bin(g.VMULPS, t, t)
	q = g.bin(g.VMULPS, t, q)
	g.VADDPS(g.f(-0.5), q, q)
	q = g.bin(g.VMULPS, tt, q) // t^3*Q - t^2/2
	g.VFMADD231PS(g.bcast(0xb95e8083), e, q)
	q = g.add(q, t)
	g.VFMADD231PS(g.bcast(0x3f318000), e, q)
	q = g.pick(x, g.bcast(0x7f800000), q, x)
	q = g.pick(x, g.f(0), g.mov(g.bcast(0x7fc00000)), q)
	return g.pick(g.abs(x), g.bcast(1), g.mov(g.bcast(0xff800000)), q)
}

// softplus is max(x, 0) + log(1+u) for u = exp(-|x|). The logarithm is 2*atanh(t) for t = u/(u+2), an odd polynomial
// for t from 0 to 1/3.
func (g *gen) softplus(x reg.Register) reg.VecVirtual {
	u := g.expNegative(g.bin(g.or(), g.bcast(signBit), x))
	t := g.bin(g.VDIVPS, g.bin(g.VADDPS, g.f(2), u), u)
	z := g.bin(g.VMULPS, t, t)
	l := g.poly(z, 0x3e8f6be1, 0x3e8f5e86, 0x3ecce904, 0x3f2aaa81)
	g.VFMADD213PS(g.add(t, t), g.bin(g.VMULPS, z, t), l)
	zero := g.v()
	g.zero(zero)
	return g.add(g.bin(g.VMAXPS, x, zero), l) // NaN passes
}

// mish is x*n/(n+2) for n = e*(e+2), e = exp(x); beyond 20 it is x.
func (g *gen) mish(x reg.Register) reg.VecVirtual {
	e := g.exp(g.bin(g.VMINPS, x, g.mov(g.f(20))))
	two := g.mov(g.f(2))
	n := g.bin(g.VMULPS, e, g.add(e, two))
	return g.pick(x, g.f(20), g.bin(g.VMULPS, x, g.bin(g.VDIVPS, g.add(n, two), n)), x)
}

// gelu is x/2 * erfc(-x/sqrt(2)). For a = |x|/sqrt(2), erfc(a) is 1-a*P(a^2) below 1 and exp(Q(a)) above, which keeps
// its digits where it is small; from 10.3 on it is 0.
func (g *gen) gelu(x reg.Register) reg.VecVirtual {
	a := g.abs(g.bin(g.VMULPS, g.f(0.70710678118654752440), x))
	c := g.bin(g.VMINPS, a, g.mov(g.f(10.3)))
	q := g.expNegative(g.poly(c, 0xb2f3389f, 0x35c63b58, 0xb80de5d7, 0x39ec3aea, 0xbb801440, 0x3cc146dc, 0xbdd60519,
		0xbf236412, 0xbf90299f, 0xba3512db))
	e := g.pick(a, g.f(1), g.bin(g.VSUBPS, g.erfBelowOne(a), g.mov(g.f(1))), q)
	e = g.pick(x, g.f(0), e, g.bin(g.VSUBPS, e, g.mov(g.f(2))))
	return g.bin(g.VMULPS, e, g.bin(g.VMULPS, g.f(0.5), x))
}
