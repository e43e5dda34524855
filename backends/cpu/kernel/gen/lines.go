package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// lineSteps take the next elements of lines that lie side by side: they find the best ones, or add up.
func lineSteps(g *gen) {
	for _, smallest := range []bool{false, true} {
		for _, last := range []bool{false, true} {
			g.better(smallest, last)
		}
	}
	for _, exclusive := range []bool{false, true} {
		g.running(exclusive)
	}
}

// better compares x with the best so far. A NaN is better than any number, so nothing but a NaN takes its place.
func (g *gen) better(smallest, last bool) {
	name, doc := "Max", "larger"
	// not less or equal, not less; with a NaN both hold
	holds := map[bool]uint8{false: 0x16, true: 0x15}[last]
	if smallest {
		name, doc = "Min", "smaller"
		holds = map[bool]uint8{false: 0x19, true: 0x1a}[last] // not greater or equal, not greater
	}
	if last {
		name += "Last"
	}
	g.text("better"+name, "func(best *float32, at *int32, x *float32, n int, k int32)",
		fmt.Sprintf("is [Better] on n numbers, a multiple of 8, where the best are the %s ones.", doc))
	best, at32, x, n := g.loadArg("best"), g.loadArg("at"), g.loadArg("x"), g.loadArg("n")
	k := g.v()
	g.VBROADCASTSS(g.arg("k"), k)
	if g.wide() {
		g.betterMasked(best, at32, x, n, k, holds, last)
		return
	}
	g.steps(n, 8, []reg.GPVirtual{best, at32, x}, []int{32, 32, 32}, func() {
		v, b, m, o := g.v(), g.v(), g.v(), g.v()
		g.VMOVUPS(at(x, 0), v)
		g.VMOVUPS(at(best, 0), b)
		g.VCMPPS(operand.U8(holds), b, v, m)
		g.VCMPPS(operand.U8(0x07), b, b, o) // the best is a number
		if last {
			u := g.v()
			g.VCMPPS(operand.U8(predUnord), v, v, u)
			g.VORPS(u, o, o)
		}
		g.VANDPS(o, m, m)
		g.VBLENDVPS(m, v, b, b)
		g.VMOVUPS(b, at(best, 0))
		i := g.v()
		g.VMOVDQU(at(at32, 0), i)
		g.VPBLENDVB(m, k, i, i)
		g.VMOVDQU(i, at(at32, 0))
	})
}

// betterMasked takes 16 numbers at once, and 8 that are left.
func (g *gen) betterMasked(best, at32, x, n reg.GPVirtual, k reg.VecVirtual, holds uint8, last bool) {
	take := func(v, b, k reg.VecVirtual) {
		g.VMOVUPS(at(x, 0), v)
		g.VMOVUPS(at(best, 0), b)
		m, o := g.K(), g.K()
		g.VCMPPS(operand.U8(holds), b, v, m)
		g.VCMPPS(operand.U8(0x07), b, b, o) // the best is a number
		if last {
			u := g.K()
			g.VCMPPS(operand.U8(predUnord), v, v, u)
			g.KORW(u, o, o)
		}
		g.KANDW(o, m, m)
		g.VMOVUPS(v, m, at(best, 0))
		g.VMOVDQU32(k, m, at(at32, 0))
	}
	g.SUBQ(imm(16), n)
	g.JL(label("few"))
	g.Label("loop")
	take(g.v(), g.v(), k)
	for _, p := range []reg.GPVirtual{best, at32, x} {
		g.ADDQ(imm(64), p)
	}
	g.SUBQ(imm(16), n)
	g.JGE(label("loop"))
	g.Label("few")
	g.ADDQ(imm(16), n)
	g.JLE(label("end"))
	take(g.YMM(), g.YMM(), k.AsY().(reg.VecVirtual))
	g.Label("end")
	g.ret()
}

// running adds numbers to sums of float64 and stores these, or those before, rounded.
func (g *gen) running(exclusive bool) {
	name, doc := "running", "the sums with src"
	if exclusive {
		name, doc = "runningBefore", "the sums without src"
	}
	g.text(name, "func(dst, src *float32, sums *float64, n int)",
		fmt.Sprintf("adds src to sums and rounds %s to dst; n is a multiple of 8.", doc))
	dst, src, sums, n := g.loadArg("dst"), g.loadArg("src"), g.loadArg("sums"), g.loadArg("n")
	g.steps(n, 8, []reg.GPVirtual{dst, src, sums}, []int{32, 32, 64}, func() {
		if g.wide() {
			before, x, r := g.v(), g.v(), g.YMM()
			g.VMOVUPD(at(sums, 0), before)
			g.VCVTPS2PD(at(src, 0), x)
			g.VADDPD(before, x, x)
			g.VMOVUPD(x, at(sums, 0))
			if exclusive {
				x = before
			}
			g.VCVTPD2PS(x, r)
			g.VMOVUPS(r, at(dst, 0))
			return
		}
		for i := range 2 {
			before, x, r := g.v(), g.v(), g.XMM()
			g.VMOVUPD(at(sums, 32*i), before)
			g.VCVTPS2PD(at(src, 16*i), x)
			g.VADDPD(before, x, x)
			g.VMOVUPD(x, at(sums, 32*i))
			if exclusive {
				x = before
			}
			g.VCVTPD2PSY(x, r)
			g.VMOVUPS(r, at(dst, 16*i))
		}
	})
}
