package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// quotientStep counts the elements that a turn of the loops makes.
const quotientStep = 8

// Bits of float64: 2^52 + 2^51, which added to an integer below 2^51 puts that into the lowest bits; 2^51 as an
// integer; 2^24 and the sign.
const (
	placesBits = 0x4338000000000000
	limitBits  = 1 << 51
	exactBits  = 0x4170000000000000
	signBits64 = 1 << 63
)

// quotients are divisions and remainders by way of float64, whose quotients have the right whole part.
func quotients(g *gen) {
	if g.wide() {
		return
	}
	for _, kind := range []string{"I32", "I64"} {
		for _, name := range []string{"Div", "DivFloor", "Mod", "ModFloor"} {
			for _, repeats := range []bool{false, true} {
				g.quotient(name, kind, repeats)
			}
		}
	}
	for _, repeats := range []bool{false, true} {
		g.quotient("Mod", "F32", repeats)
	}
}

func (g *gen) quotient(name, kind string, repeats bool) {
	m, shape := doubles{g}, map[bool]string{false: "vv", true: "vs"}[repeats]
	g.text(shape+name+kind, "func(dst, a, b *byte, n int) (far uint64)",
		fmt.Sprintf("is %s of [Quotients] on n elements, a multiple of %d; far is not 0 where results are wrong.", name,
			quotientStep))
	dst, a, b, n := g.loadArg("dst"), g.loadArg("a"), g.loadArg("b"), g.loadArg("n")
	far := g.v()
	g.VPXOR(far, far, far)
	half := 16 // bytes of four elements
	if kind == "I64" {
		half = 32
	}
	load := func(from operand.Mem) reg.VecVirtual {
		x := g.v()
		switch kind {
		case "I32":
			g.VCVTDQ2PD(from, x)
		case "F32":
			g.VCVTPS2PD(from, x)
		default:
			g.VMOVDQU(from, x)
			g.widenLong(x, far)
		}
		return x
	}
	var s reg.VecVirtual
	if repeats {
		s = g.v()
		switch kind {
		case "I32":
			g.VPBROADCASTD(at(b, 0), s.AsX())
			g.VCVTDQ2PD(s.AsX(), s)
		case "F32":
			g.VBROADCASTSS(at(b, 0), s.AsX())
			g.VCVTPS2PD(s.AsX(), s)
		default:
			g.VPBROADCASTQ(at(b, 0), s)
			g.widenLong(s, far)
		}
	}
	var back reg.VecVirtual // 1/s; the product with it, corrected by its remainder, is the quotient
	if byProduct := repeats && kind != "F32"; byProduct {
		back = m.in(m.Div(m.Number(1), s))
	}
	g.Label("loop")
	for i := range quotientStep / 4 {
		x, y := load(at(a, half*i)), s
		if !repeats {
			y = load(at(b, half*i))
		}
		var q reg.VecVirtual
		if back != nil {
			first := m.Mul(x, back)
			q = m.in(m.FMA(m.FNMA(first, y, x), back, first))
		} else {
			q = m.in(m.Div(x, y))
		}
		whole := g.v()
		mode := 3
		if name == "DivFloor" || name == "ModFloor" {
			mode = 1
		}
		g.VROUNDPD(operand.U8(mode), q, whole)
		r := whole
		if name == "Mod" || name == "ModFloor" {
			r = m.in(m.FNMA(whole, y, x))
		}
		switch to := at(dst, half*i); kind {
		case "I32":
			g.VCVTTPD2DQY(r, r.AsX())
			g.VMOVDQU(r.AsX(), to)
		case "I64":
			g.VADDPD(m.Bits(placesBits), r, r)
			g.VPSUBQ(m.Bits(placesBits), r, r)
			g.VMOVDQU(r, to)
		default:
			g.VANDPD(m.Bits(signBits64-1), q, q)
			g.VCMPPD(operand.U8(5), m.Bits(exactBits), q, q) // not below
			g.VPOR(q, far, far)
			g.VCMPPD(operand.U8(3), r, r, q) // NaN
			g.VPOR(q, far, far)
			g.VANDPD(m.Bits(signBits64-1), r, r)
			g.VANDPD(m.Bits(signBits64), x, x)
			g.VORPD(x, r, r)
			g.VCVTPD2PSY(r, r.AsX())
			g.VMOVUPS(r.AsX(), to)
		}
	}
	for _, p := range []reg.GPVirtual{dst, a, b} {
		if p != b || !repeats {
			g.ADDQ(imm(quotientStep/4*half), p)
		}
	}
	g.SUBQ(imm(quotientStep), n)
	g.JG(label("loop"))
	if kind == "I64" {
		g.VPSRLQ(operand.U8(52), far, far)
	}
	other, low, high := g.XMM(), g.GP64(), g.GP64()
	g.VEXTRACTI128(operand.U8(1), far, other)
	g.VPOR(other, far.AsX(), other)
	g.VMOVQ(other, low)
	g.VPEXTRQ(operand.U8(1), other, high)
	g.ORQ(high, low)
	g.Store(low, g.ReturnIndex(0))
	g.ret()
}

// widenLong makes float64 of integers of 64 bits. It notes in the bits from 52 on of far those that are not below 2^51.
func (g *gen) widenLong(x, far reg.VecVirtual) {
	m, t := doubles{g}, g.v()
	g.VPADDQ(m.Bits(limitBits), x, t)
	g.VPOR(t, far, far)
	g.VPADDQ(m.Bits(placesBits), x, x)
	g.VSUBPD(m.Bits(placesBits), x, x)
}
