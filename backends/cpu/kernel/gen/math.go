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
	x = g.atLeast(x, g.f(-104))
	n := g.round(g.bin(g.VMULPS, g.bcast(0x3fb8aa3b), x), 0)
	r := g.mov(x)
	g.VFNMADD231PS(g.bcast(0x3f317218), n, r)
	g.VFNMADD231PS(g.bcast(0xb102e308), n, r)
	p := g.poly(r, 0x3ab50d36, 0x3c091fe3, 0x3d2aac8b, 0x3e2aaa45, 0x3efffffe)
	rr := g.bin(g.VMULPS, r, r)
	g.VFMADD213PS(r, rr, p)
	g.VADDPS(g.f(1), p, p)
	if g.wide() {
		return g.bin(g.VSCALEFPS, n, p)
	}
	// Two factors, so that results down to the denormals come out.
	i, h := g.v(), g.v()
	g.VCVTPS2DQ(n, i)
	g.VPSRAD(operand.U8(1), i, h)
	g.VPSUBD(h, i, i)
	for _, e := range []reg.VecVirtual{h, i} {
		g.VPADDD(g.bcast(127), e, e)
		g.VPSLLD(operand.U8(23), e, e)
		p = g.bin(g.VMULPS, e, p)
	}
	return p
}

// sigmoid is e/(1+e) for x < 0 and 1/(1+e) otherwise, with e = exp(-|x|).
func (g *gen) sigmoid(x reg.Register) reg.VecVirtual {
	e := g.expBelow(g.bin(g.or(), g.bcast(signBit), x))
	one := g.mov(g.f(1))
	d := g.bin(g.VADDPS, one, e)
	return g.bin(g.VDIVPS, d, g.pick(x, g.f(0), e, one))
}

// tanh is q/(q+2) for q = exp(-2|x|)-1, with the sign turned.
func (g *gen) tanh(x reg.Register) reg.VecVirtual {
	a := g.abs(x)
	q := g.expm1Below(g.bin(g.xor(), g.bcast(signBit), g.add(a, a)))
	big := g.bin(g.VDIVPS, g.add(q, g.mov(g.f(2))), q)
	return g.copySign(g.abs(big), x)
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
	q := g.expBelow(g.poly(c, 0x39436d48, 0xbb412c93, 0x3cb2e546, 0xbdd32964, 0xbf235d7f, 0xbf904473, 0xb9b31963))
	big := g.bin(g.VSUBPS, q, g.mov(g.f(1)))
	return g.copySign(g.pick(a, g.f(1), p, big), x)
}

// expm1: for x <= 0, with q = exp(r)-1 the result is 2^n*q + (2^n - 1).
func (g *gen) expm1(x reg.Register) reg.VecVirtual {
	return g.expm1Below(g.bin(g.VMINPS, x, g.mov(g.f(0))))
}

// expm1Below is expm1 of x <= 0.
func (g *gen) expm1Below(x reg.Register) reg.VecVirtual {
	x = g.atLeast(x, g.f(-30))
	n := g.round(g.bin(g.VMULPS, g.bcast(0x3fb8aa3b), x), 0)
	r := g.mov(x)
	g.VFNMADD231PS(g.bcast(0x3f317218), n, r)
	g.VFNMADD231PS(g.bcast(0xb102e308), n, r)
	q := g.poly(r, 0x3ab50d36, 0x3c091fe3, 0x3d2aac8b, 0x3e2aaa45, 0x3efffffe)
	g.VFMADD213PS(r, g.bin(g.VMULPS, r, r), q)
	s := g.v()
	g.VCVTPS2DQ(n, s)
	g.VPADDD(g.bcast(127), s, s)
	g.VPSLLD(operand.U8(23), s, s)
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

// softplus is max(x, 0) + log(1+u) for u = exp(-|x|); the quotient u/((1+u)-1)
// takes back the rounding of 1+u.
func (g *gen) softplus(x reg.Register) reg.VecVirtual {
	u := g.expBelow(g.bin(g.or(), g.bcast(signBit), x))
	one := g.mov(g.f(1))
	s := g.add(one, u)
	d := g.sub(s, one)
	l := g.bin(g.VMULPS, g.bin(g.VDIVPS, d, u), g.log(s))
	l = g.pick(d, g.bcast(1), u, l)
	z := g.v()
	g.zero(z)
	m := g.bin(g.VMAXPS, x, z) // NaN passes
	return g.add(m, l)
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
	q := g.expBelow(g.poly(c, 0xb2f3389f, 0x35c63b58, 0xb80de5d7, 0x39ec3aea, 0xbb801440, 0x3cc146dc, 0xbdd60519,
		0xbf236412, 0xbf90299f, 0xba3512db))
	e := g.pick(a, g.f(1), g.bin(g.VSUBPS, g.erfBelowOne(a), g.mov(g.f(1))), q)
	e = g.pick(x, g.f(0), e, g.bin(g.VSUBPS, e, g.mov(g.f(2))))
	return g.bin(g.VMULPS, e, g.bin(g.VMULPS, g.f(0.5), x))
}
