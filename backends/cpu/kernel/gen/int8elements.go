package main

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// int8elements emits functions of codes element by element.
func int8elements(g *gen) {
	g.combine()
	g.maxU8()
	g.encode()
	nearest(g)
}

// order is the permutation of words after two rounds of packing four vectors.
func (g *gen) order() operand.Mem {
	if g.wide() {
		return g.quads()
	}
	if m, ok := g.consts["pairs"]; ok {
		return m
	}
	m := g.StaticGlobal("pairs")
	g.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 8 {
		g.AddDatum(4*i, operand.U32(uint32(i%2*4+i/2)))
	}
	g.consts["pairs"] = m
	return m
}

// combine scales codes, and the sum of two. Vectors: 0-3 codes of a, then results; 4-7 codes of b; 8, 9 factors; 10 the
// summand; 11 the zero point; 12, 13 limits; 14 the order of packed words.
func (g *gen) combine() {
	g.text("combine", "func(dst, a, b *uint8, n int, fa, fb, add float32, zero, lo, hi int)",
		"is dst = clamp(round(a*fa + b*fb + add) + zero, lo, hi) on n codes, a positive multiple of 64; without b its term "+
			"is left out.")
	v := g.vec
	dst, a, b, n := g.loadArg("dst"), g.loadArg("a"), g.loadArg("b"), g.loadArg("n")
	fa, fb, add, zero, lo, hi, order := v[8], v[9], v[10], v[11], v[12], v[13], v[14]
	g.VBROADCASTSS(g.arg("fa"), fa)
	g.VBROADCASTSS(g.arg("fb"), fb)
	g.VBROADCASTSS(g.arg("add"), add)
	g.everyWord("zero", zero)
	g.everyByte("lo", lo)
	g.everyByte("hi", hi)
	g.VMOVUPS(g.order(), order)
	loop := func(name string, two bool) {
		g.Label(name)
		for i := range 4 {
			g.VPMOVZXBD(at(a, i*g.lanes), v[i])
			g.VCVTDQ2PS(v[i], v[i])
			g.VMULPS(fa, v[i], v[i])
			if two {
				y := v[4+i]
				g.VPMOVZXBD(at(b, i*g.lanes), y)
				g.VCVTDQ2PS(y, y)
				g.VMULPS(fb, y, y)
				g.VADDPS(y, v[i], v[i])
			}
			g.VADDPS(add, v[i], v[i])
		}
		g.pack4(func(i int) reg.VecPhysical { return v[i] }, zero)
		g.VPERMD(v[0], order, v[0])
		g.VPMAXUB(lo, v[0], v[0])
		g.VPMINUB(hi, v[0], v[0])
		g.VMOVUPS(v[0], at(dst, 0))
		g.ADDQ(imm(4*g.lanes), a)
		if two {
			g.ADDQ(imm(4*g.lanes), b)
		}
		g.ADDQ(imm(4*g.lanes), dst)
		g.SUBQ(imm(4*g.lanes), n)
		g.JG(label(name))
		g.ret()
	}
	g.TESTQ(b, b)
	g.JZ(label("one"))
	loop("two", true)
	loop("one", false)
}

func (g *gen) maxU8() {
	g.text("maxU8", "func(dst, src *uint8, n int)", "is dst = max(dst, src) on n codes, a positive multiple of 64.")
	dst, src, n := g.loadArg("dst"), g.loadArg("src"), g.loadArg("n")
	x := g.vec[0]
	g.Label("loop")
	g.VMOVUPS(at(src, 0), x)
	g.VPMAXUB(at(dst, 0), x, x)
	g.VMOVUPS(x, at(dst, 0))
	g.ADDQ(imm(g.bytes()), src)
	g.ADDQ(imm(g.bytes()), dst)
	g.SUBQ(imm(g.bytes()), n)
	g.JG(label("loop"))
	g.ret()
}

// encode quantizes with a true division. Vectors: 0-3 values; 8 the scale; 9, 10 limits; 11 the zero point; 12 the
// order of packed words; 13 which values are numbers.
func (g *gen) encode() {
	g.text("encode", "func(dst *uint8, src *float32, n int, scale, lo, hi float32, zero int)",
		"is dst = round(clamp(src/scale, lo, hi)) + zero on n values, a positive multiple of 64, NaN counting as 0.")
	v := g.vec
	dst, src, n := g.loadArg("dst"), g.loadArg("src"), g.loadArg("n")
	scale, lo, hi, zero, order, m := v[8], v[9], v[10], v[11], v[12], v[13]
	g.VBROADCASTSS(g.arg("scale"), scale)
	g.VBROADCASTSS(g.arg("lo"), lo)
	g.VBROADCASTSS(g.arg("hi"), hi)
	g.everyWord("zero", zero)
	g.VMOVUPS(g.order(), order)
	g.Label("loop")
	for i := range 4 {
		x := v[i]
		g.VMOVUPS(at(src, i*g.bytes()), x)
		g.VDIVPS(scale, x, x)
		if g.wide() {
			g.VCMPPS(operand.U8(7), x, x, reg.K2) // ordered with itself
			g.VMOVAPS_Z(x, reg.K2, x)
		} else {
			g.VCMPPS(operand.U8(7), x, x, m)
			g.VANDPS(m, x, x)
		}
		g.VMAXPS(lo, x, x)
		g.VMINPS(hi, x, x)
	}
	g.pack4(func(i int) reg.VecPhysical { return v[i] }, zero)
	g.VPERMD(v[0], order, v[0])
	g.VMOVUPS(v[0], at(dst, 0))
	g.ADDQ(imm(4*g.bytes()), src)
	g.ADDQ(imm(g.bytes()), dst)
	g.SUBQ(imm(g.bytes()), n)
	g.JG(label("loop"))
	g.ret()
}
