package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// lookup looks bytes up in a table of 256 bytes. AVX-512 with VBMI looks each up in both halves of the table, and the
// sign of a byte picks one. AVX2 goes through the table by 16 bytes and subtracts 16 in each step. A byte that belongs
// to the step is 0 to 15 then; all others get a sign, for which a shuffle gives 0.
func lookup(g *gen) {
	g.text("lookup", "func(dst, src, table *byte, n int)",
		"is dst = table[src] on n bytes, a positive multiple of 64; dst may be src.")
	dst, src, table, n := g.loadArg("dst"), g.loadArg("src"), g.loadArg("table"), g.loadArg("n")
	if g.wide() {
		var parts [4]reg.VecVirtual
		for i := range parts {
			parts[i] = g.mov(at(table, 64*i))
		}
		g.Label("loop")
		x, low, high := g.v(), g.v(), g.v()
		g.VMOVDQU8(at(src, 0), x)
		g.VMOVDQU8(x, low)
		g.VMOVDQU8(x, high)
		g.VPERMI2B(parts[1], parts[0], low)
		g.VPERMI2B(parts[3], parts[2], high)
		g.VPMOVB2M(x, reg.K2)
		g.VMOVDQU8(high, reg.K2, low)
		g.VMOVDQU8(low, at(dst, 0))
	} else {
		step, reach := g.mov(g.bcast(0x10101010)), g.mov(g.bcast(0x70707070))
		g.Label("loop")
		var x, found [2]reg.VecVirtual
		for i := range x {
			x[i], found[i] = g.mov(at(src, 32*i)), g.v()
			g.VPXOR(found[i], found[i], found[i])
		}
		for k := range 16 {
			part := g.v()
			g.VBROADCASTI128(at(table, 16*k), part)
			for i := range x {
				t := g.v()
				g.VPADDUSB(reach, x[i], t)
				g.VPSHUFB(t, part, t)
				g.VPOR(t, found[i], found[i])
				if k < 15 {
					g.VPSUBB(step, x[i], x[i])
				}
			}
		}
		for i := range x {
			g.VMOVDQU(found[i], at(dst, 32*i))
		}
	}
	for _, p := range []reg.GPVirtual{dst, src} {
		g.ADDQ(operand.Imm(64), p)
	}
	g.SUBQ(imm(64), n)
	g.JG(label("loop"))
	g.ret()
}
