package main

import (
	"github.com/mmcloughlin/avo/operand"
)

// peak emits a loop of 48 independent fused multiply-adds, 12 or 16 at a time. The operands are
// arbitrary numbers, because a CPU runs faster on zeros than on real data.
func peak(g *gen) {
	g.text("peakFMA", "func(n int, data *float32)", "issues 48*n vector fused multiply-adds on registers; n > 0.",
		"data has 18 vectors.")
	n, data := g.loadArg("n"), g.loadArg("data")
	accs := len(g.vec) - 2
	if accs > 16 {
		accs = 16
	} else {
		accs = 12
	}
	for i := range accs + 2 {
		g.VMOVUPS(at(data, i*g.bytes()), g.vec[i])
	}
	g.Label("loop")
	for k := range 48 / accs {
		for i := range accs {
			g.VFMADD231PS(g.vec[accs+k%2], g.vec[accs], g.vec[i])
		}
	}
	g.SUBQ(operand.Imm(1), n)
	g.JNZ(label("loop"))
	g.ret()
}
