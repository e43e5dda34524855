package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// overlapStep counts the boxes that a call takes at once, by either instruction set.
const overlapStep = 16

// overlap compares a box with others, whose numbers lie in rows.
func overlap(g *gen) {
	g.text("overlaps", "func(others *float32, ld, n int, box *float32, limit float32) uint64",
		"is [Overlaps] on n boxes, a multiple of 16: not 0 when there is one. ld counts bytes.")
	others, ld, n, box := g.loadArg("others"), g.loadArg("ld"), g.loadArg("n"), g.loadArg("box")
	var own [5]reg.VecVirtual
	for i := range own {
		own[i] = g.v()
		g.VBROADCASTSS(at(box, 4*i), own[i])
	}
	limit, zero := g.v(), g.v()
	g.VBROADCASTSS(g.arg("limit"), limit)
	g.zero(zero)
	far := g.GP64() // the fourth row
	g.LEAQ(idx(ld, ld, 2, 0), far)
	g.ADDQ(others, far)
	found := g.GP64()
	side := func(first, last operand.Mem, k int) reg.VecVirtual {
		low, high := g.bin(g.VMAXPS, first, own[k]), g.bin(g.VMINPS, last, own[k+2])
		return g.bin(g.VMAXPS, zero, g.bin(g.VSUBPS, low, high))
	}
	g.Label("loop")
	for i := 0; i < overlapStep; i += g.lanes {
		h := side(at(others, 4*i), idx(others, ld, 2, 4*i), 0)
		w := side(idx(others, ld, 1, 4*i), at(far, 4*i), 1)
		both := g.bin(g.VMULPS, h, w)
		all := g.bin(g.VSUBPS, both, g.bin(g.VADDPS, idx(far, ld, 1, 4*i), own[4]))
		g.VDIVPS(all, both, both)
		if g.wide() {
			k := g.K()
			g.VCMPPS(operand.U8(0x1e), limit, both, k)
			g.KMOVW(k, found.As32())
		} else {
			g.VCMPPS(operand.U8(0x1e), limit, both, both)
			g.VMOVMSKPS(both, found.As32())
		}
		g.TESTL(found.As32(), found.As32())
		g.JNE(label("done"))
	}
	g.ADDQ(imm(4*overlapStep), others)
	g.ADDQ(imm(4*overlapStep), far)
	g.SUBQ(imm(overlapStep), n)
	g.JG(label("loop"))
	g.XORL(found.As32(), found.As32())
	g.Label("done")
	g.Store(found, g.ReturnIndex(0))
	g.ret()
}
