package main

import "github.com/mmcloughlin/avo/operand"

// peak emits a chain-free FMA loop: 12 accumulators, n iterations.
func peak(g *gen) {
	g.text("peakFMA", "func(n int)", "issues 12*n vector fused multiply-adds on registers; n > 0.")
	n := g.loadArg("n")
	for i := range 14 {
		g.zero(g.vec[i])
	}
	g.Label("loop")
	for i := range 12 {
		g.VFMADD231PS(g.vec[12], g.vec[13], g.vec[i])
	}
	g.SUBQ(operand.Imm(1), n)
	g.JNZ(label("loop"))
	g.ret()
}
