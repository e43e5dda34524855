package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// nearest rounds scaled sums to codes and says which blocks hold results close to a half. Vectors: 0-3 values; 4-7
// their distances to the rounded values; 8 the zero point; 9 the flipped bits; 10 the distance that counts; 11, 12
// limits; 13 the order of packed words; 14 the largest distance.
func nearest(g *gen) {
	g.text("nearest", "func(dst *uint8, src *float32, n int, scale, shift *float32, zero, flip int, far float32, close "+
		"*uint8)",
		"is dst = (clamp(round(src*scale + shift) + zero, 0, 255)) ^ flip on n values, a positive multiple of 64.",
		"close gets a byte for each 64: not 0 when a result is further than far from what it is rounded to.")
	v := g.vec
	dst, src, n := g.loadArg("dst"), g.loadArg("src"), g.loadArg("n")
	scale, shift, closeBy := g.loadArg("scale"), g.loadArg("shift"), g.loadArg("close")
	zero, flip, far, lo, hi, order, most := v[8], v[9], v[10], v[11], v[12], v[13], v[14]
	g.everyWord("zero", zero)
	g.everyByte("flip", flip)
	g.VBROADCASTSS(g.arg("far"), far)
	g.VMOVUPS(g.bcast(0xc5000000), lo) // -2048: beyond all codes, within 16 bits
	g.VMOVUPS(g.bcast(0x45000000), hi)
	g.VMOVUPS(g.order(), order)
	blocks := 64 / (4 * g.lanes)
	g.Label("loop")
	g.zero(most)
	for b := range blocks {
		for i := range 4 {
			x, r := v[i], v[4+i]
			d := (b*4 + i) * g.bytes()
			g.VMOVUPS(at(src, d), x)
			g.VMULPS(at(scale, d), x, x)
			g.VADDPS(at(shift, d), x, x)
			g.VMAXPS(lo, x, x)
			g.VMINPS(hi, x, x)
			if g.wide() {
				g.VRNDSCALEPS(operand.U8(0), x, r)
			} else {
				g.VROUNDPS(operand.U8(0), x, r)
			}
			g.VSUBPS(r, x, r)
			g.VANDPS(g.bcast(0x7fffffff), r, r)
			g.VMAXPS(r, most, most)
		}
		g.pack4(func(i int) reg.VecPhysical { return v[i] }, zero)
		g.VPERMD(v[0], order, v[0])
		if g.wide() {
			g.VPXORD(flip, v[0], v[0])
		} else {
			g.VXORPS(flip, v[0], v[0])
		}
		g.VMOVUPS(v[0], at(dst, b*g.bytes()))
	}
	m := g.GP32()
	if g.wide() {
		g.VCMPPS(operand.U8(14), far, most, reg.K2) // greater
		g.KMOVW(reg.K2, m)
	} else {
		g.VCMPPS(operand.U8(14), far, most, most)
		g.VMOVMSKPS(most, m)
	}
	g.TESTL(m, m)
	g.SETNE(at(closeBy, 0))
	g.ADDQ(imm(256), src)
	g.ADDQ(imm(256), scale)
	g.ADDQ(imm(256), shift)
	g.ADDQ(imm(64), dst)
	g.ADDQ(imm(1), closeBy)
	g.SUBQ(imm(64), n)
	g.JG(label("loop"))
	g.ret()
}
