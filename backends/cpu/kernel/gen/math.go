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
	g.Comment("exp: n = round(x/ln2), r = x - n*ln2, 2^n * (1 + r + r^2*P(r))")
	x = g.clampTo(x, g.f(-104), g.f(89))
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

// sigmoidParts gives e/(1+e) for x < 0 and 1/(1+e) otherwise, e = exp(-|x|).
func (g *gen) sigmoid(x reg.Register) reg.VecVirtual {
	e := g.exp(g.bin(g.or(), g.bcast(signBit), x))
	one := g.mov(g.f(1))
	d := g.bin(g.VADDPS, one, e)
	return g.bin(g.VDIVPS, d, g.pick(x, g.f(0), e, one))
}

// tanh: an odd polynomial below 0.65, (1-e)/(1+e) with e = exp(-2|x|) above.
func (g *gen) tanh(x reg.Register) reg.VecVirtual {
	a := g.abs(x)
	e := g.exp(g.bin(g.VMULPS, g.f(-2), a))
	one := g.mov(g.f(1))
	big := g.bin(g.VDIVPS, g.bin(g.VADDPS, e, one), g.bin(g.VSUBPS, e, one))
	z := g.bin(g.VMULPS, a, a)
	p := g.poly(z, 0xbbb4b894, 0x3ca7af7e, 0xbd5be7f9, 0x3e0881f9, 0xbeaaaa92)
	p = g.bin(g.VMULPS, z, p)
	g.VFMADD213PS(a, a, p)
	return g.copySign(g.pick(a, g.f(0.65), p, big), x)
}

// erf: x*P(x^2) below 1, 1-exp(Q(|x|)) up to 4, where it rounds to 1.
func (g *gen) erf(x reg.Register) reg.VecVirtual {
	a := g.abs(x)
	z := g.bin(g.VMULPS, a, a)
	p := g.poly(z, 0x38a4b540, 0xba51fb8e, 0x3baa02db, 0xbcdbfc87, 0x3de7167c, 0xbec0939f, 0x3f906eba)
	p = g.bin(g.VMULPS, a, p)
	c := g.clampTo(a, g.f(0), g.f(4))
	q := g.exp(g.poly(c, 0x39436d48, 0xbb412c93, 0x3cb2e546, 0xbdd32964, 0xbf235d7f, 0xbf904473, 0xb9b31963))
	big := g.bin(g.VSUBPS, q, g.mov(g.f(1)))
	return g.copySign(g.pick(a, g.f(1), p, big), x)
}

func (g *gen) halfOnePlus(x, t reg.Register) reg.VecVirtual {
	h := g.bin(g.VMULPS, g.f(0.5), x)
	return g.bin(g.VMULPS, h, g.bin(g.VADDPS, g.f(1), t))
}
