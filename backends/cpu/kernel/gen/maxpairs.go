package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// maxPairs finds the largest of pairs of neighbours, and of pairs with the first of the next one.
func maxPairs(g *gen) {
	for _, taps := range []int{2, 3} {
		g.maxPairs(taps)
	}
}

func (g *gen) maxPairs(taps int) {
	g.text(fmt.Sprint("maxPairs", taps), "func(dst *float32, ldd int, src *float32, lds, n, rows int)",
		fmt.Sprintf("is [MaxPairs] of %d taps. Strides are in bytes; pairs of a whole vector are read.", taps))
	dst, src, n, rows := g.loadArg("dst"), g.loadArg("src"), g.loadArg("n"), g.loadArg("rows")
	ldd, lds := g.loadArg("ldd"), g.loadArg("lds")
	rest, left, to, from := g.GP64(), g.GP64(), g.GP64(), g.GP64()
	g.MOVQ(n, rest)
	g.ANDQ(imm(g.lanes-1), rest)
	g.tail(rest)
	var order, nan reg.VecVirtual
	if g.wide() {
		order, nan = g.v(), g.v()
		g.VMOVDQU64(g.vector32("evenFirst", 0, 0, 2, 0, 4, 0, 6, 0, 1, 0, 3, 0, 5, 0, 7, 0), order)
		g.VPTERNLOGD(operand.U8(0xff), nan, nan, nan)
	}
	half := func(first int, second bool) reg.VecVirtual {
		x, r := g.mov(at(from, 4*first)), g.v()
		which := operand.U8(0x88)
		if second {
			which = operand.U8(0xdd)
		}
		g.VSHUFPS(which, at(from, 4*first+g.bytes()), x, r)
		return r
	}
	part := func(masked bool) {
		a, b := half(0, false), half(0, true)
		best := g.bin(g.VMAXPS, a, b)
		var odd reg.Register
		compare := func(x, y reg.Register) reg.Register {
			if g.wide() {
				k := g.K()
				g.VCMPPS(operand.U8(predUnord), x, y, k)
				return k
			}
			m := g.v()
			g.VCMPPS(operand.U8(predUnord), x, y, m)
			return m
		}
		odd = compare(a, b)
		if taps == 3 {
			c := half(2, false)
			g.VMAXPS(c, best, best)
			more := compare(c, c)
			if g.wide() {
				g.KORW(more, odd, odd)
			} else {
				g.VORPS(more, odd, odd)
			}
		}
		if g.wide() {
			g.VMOVAPS(nan, odd, best)
			g.VPERMPD(best, order, best)
		} else {
			g.VORPS(odd, best, best)
			g.VPERMQ(operand.U8(0xd8), best, best)
		}
		g.storeMaybe(masked, best, at(to, 0))
	}
	g.Label("rows")
	g.MOVQ(n, left)
	g.MOVQ(dst, to)
	g.MOVQ(src, from)
	g.SUBQ(imm(g.lanes), left)
	g.JLT(label("last"))
	g.Label("vectors")
	part(false)
	g.ADDQ(imm(g.bytes()), to)
	g.ADDQ(imm(2*g.bytes()), from)
	g.SUBQ(imm(g.lanes), left)
	g.JGE(label("vectors"))
	g.Label("last")
	g.TESTQ(rest, rest)
	g.JZ(label("next"))
	part(true)
	g.Label("next")
	g.ADDQ(ldd, dst)
	g.ADDQ(lds, src)
	g.SUBQ(imm(1), rows)
	g.JG(label("rows"))
	g.ret()
}
