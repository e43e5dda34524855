package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// maxPairs finds the largest of pairs of neighbours, of pairs with the first of the next one, and of any three.
func maxPairs(g *gen) {
	for _, taps := range []int{2, 3} {
		g.maxPairs(taps)
	}
	g.max3()
}

// unordered is where x or y is NaN: an opmask of AVX-512, otherwise a vector.
func (g *gen) unordered(x, y reg.Register) reg.Register {
	if g.wide() {
		k := g.K()
		g.VCMPPS(operand.U8(predUnord), x, y, k)
		return k
	}
	m := g.v()
	g.VCMPPS(operand.U8(predUnord), x, y, m)
	return m
}

// either joins two of them into the second one.
func (g *gen) either(x, y reg.Register) {
	if g.wide() {
		g.KORW(x, y, y)
	} else {
		g.VORPS(x, y, y)
	}
}

// max3 finds the largest of three vectors.
func (g *gen) max3() {
	g.text("max3", "func(dst, a, b, c *float32, n int)", "is [Max3] on n numbers.")
	dst, a, b, c, n := g.loadArg("dst"), g.loadArg("a"), g.loadArg("b"), g.loadArg("c"), g.loadArg("n")
	var nan reg.VecVirtual
	if g.wide() {
		nan = g.v()
		g.VPTERNLOGD(operand.U8(0xff), nan, nan, nan)
	}
	g.stream(n, 2, []reg.GPVirtual{dst, a, b, c}, func(d int, masked bool) {
		x, y, z := g.get(at(a, d), masked), g.get(at(b, d), masked), g.get(at(c, d), masked)
		odd := g.unordered(x, y)
		g.VMAXPS(x, y, y)
		g.either(g.unordered(z, z), odd)
		g.VMAXPS(z, y, y)
		if g.wide() {
			g.VMOVAPS(nan, odd, y)
		} else {
			g.VORPS(odd, y, y)
		}
		g.put(masked, y, at(dst, d))
	})
	g.ret()
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
		odd := g.unordered(a, b)
		if taps == 3 {
			c := half(2, false)
			g.VMAXPS(c, best, best)
			g.either(g.unordered(c, c), odd)
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
