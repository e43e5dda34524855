package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// castStep counts the elements that a turn of the casts makes.
const castStep = 32

// casts change the type of elements.
func casts(g *gen) {
	if g.wide() {
		return
	}
	for _, c := range [][2]int{{8, 4}, {8, 2}, {8, 1}, {4, 2}, {4, 1}, {2, 1}} {
		g.narrow(c[0], c[1])
	}
	for _, signed := range []bool{false, true} {
		g.widen(signed, 1, 2, 16, map[bool]vop{false: g.VPMOVZXBW, true: g.VPMOVSXBW})
		g.widen(signed, 1, 4, 8, map[bool]vop{false: g.VPMOVZXBD, true: g.VPMOVSXBD})
		g.widen(signed, 1, 8, 4, map[bool]vop{false: g.VPMOVZXBQ, true: g.VPMOVSXBQ})
		g.widen(signed, 2, 4, 8, map[bool]vop{false: g.VPMOVZXWD, true: g.VPMOVSXWD})
		g.widen(signed, 2, 8, 4, map[bool]vop{false: g.VPMOVZXWQ, true: g.VPMOVSXWQ})
		g.widen(signed, 4, 8, 4, map[bool]vop{false: g.VPMOVZXDQ, true: g.VPMOVSXDQ})
	}
	g.floatsOfInts()
	g.intsOfFloats()
	g.doubles()
	g.brains()
}

// cast begins a function of n elements, a multiple of castStep, and walks over them.
func (g *gen) cast(name, doc string, to, from int, body func(dst, src reg.GPVirtual)) {
	g.text(name, "func(dst, src *byte, n int)", fmt.Sprintf("%s; n is a multiple of %d.", doc, castStep))
	dst, src, n := g.loadArg("dst"), g.loadArg("src"), g.loadArg("n")
	g.steps(n, castStep, []reg.GPVirtual{dst, src}, []int{to * castStep, from * castStep}, func() { body(dst, src) })
}

// narrow keeps the low bytes of integers.
func (g *gen) narrow(from, to int) {
	g.cast(fmt.Sprintf("narrow%dto%d", from, to), "keeps the low bytes of integers", to, from,
		func(dst, src reg.GPVirtual) {
			load := func(i int) reg.VecVirtual {
				x := g.v()
				g.VMOVDQU(at(src, 32*i), x)
				return x
			}
			words := func(i int) reg.VecVirtual { // 8 integers of 4 bytes
				if from == 4 {
					return load(i)
				}
				x := load(2 * i)
				g.VSHUFPS(operand.U8(0x88), load(2*i+1), x, x)
				g.VPERMQ(operand.U8(0xd8), x, x)
				return x
			}
			low := func(bits uint32, x reg.VecVirtual) reg.VecVirtual {
				g.VPAND(g.bcast(bits), x, x)
				return x
			}
			switch {
			case to == 4:
				for i := range 4 {
					g.VMOVDQU(words(i), at(dst, 32*i))
				}
			case to == 2:
				for i := range 2 {
					x := low(0xffff, words(2*i))
					g.VPACKUSDW(low(0xffff, words(2*i+1)), x, x)
					g.VPERMQ(operand.U8(0xd8), x, x)
					g.VMOVDQU(x, at(dst, 32*i))
				}
			case from == 2:
				x := low(0x00ff00ff, load(0))
				g.VPACKUSWB(low(0x00ff00ff, load(1)), x, x)
				g.VPERMQ(operand.U8(0xd8), x, x)
				g.VMOVDQU(x, at(dst, 0))
			default:
				x := low(0xff, words(0))
				g.VPACKUSDW(low(0xff, words(1)), x, x)
				y := low(0xff, words(2))
				g.VPACKUSDW(low(0xff, words(3)), y, y)
				g.VPACKUSWB(y, x, x)
				order := g.v()
				g.VMOVDQU(g.vector32("bytesOfMasks", 0, 4, 1, 5, 2, 6, 3, 7), order)
				g.VPERMD(x, order, x)
				g.VMOVDQU(x, at(dst, 0))
			}
		})
}

// widen repeats the sign of integers, or 0, in front of them; lanes of them become a vector.
func (g *gen) widen(signed bool, from, to, lanes int, by map[bool]vop) {
	name, doc := "widenU", "puts zeros before integers"
	if signed {
		name, doc = "widenS", "puts signs before integers"
	}
	g.cast(fmt.Sprintf("%s%dto%d", name, from, to), doc, to, from, func(dst, src reg.GPVirtual) {
		for i := range castStep / lanes {
			x := g.v()
			by[signed](at(src, from*lanes*i), x)
			g.VMOVDQU(x, at(dst, 32*i))
		}
	})
}

// floatsOfInts makes float32 of integers of 32 and of 64 bits.
func (g *gen) floatsOfInts() {
	g.cast("int32ToFloat", "rounds int32 to float32", 4, 4, func(dst, src reg.GPVirtual) {
		for i := range 4 {
			x := g.v()
			g.VCVTDQ2PS(at(src, 32*i), x)
			g.VMOVUPS(x, at(dst, 32*i))
		}
	})
	g.cast("uint32ToFloat", "rounds uint32 to float32: the upper half times 2^16 is exact, and so is the lower", 4, 4,
		func(dst, src reg.GPVirtual) {
			for i := range 4 {
				x, high := g.v(), g.v()
				g.VMOVDQU(at(src, 32*i), x)
				g.VPSRLD(operand.U8(16), x, high)
				g.VPAND(g.bcast(0xffff), x, x)
				g.VCVTDQ2PS(high, high)
				g.VCVTDQ2PS(x, x)
				g.VFMADD231PS(g.bcast(0x47800000), high, x)
				g.VMOVUPS(x, at(dst, 32*i))
			}
		})
	g.text("int64ToFloat", "func(dst, src *byte, n int) uint64",
		fmt.Sprintf("rounds int64 to float32 by way of float64, which holds those that leave the upper 13 bits of the result 0; "+
			"n is a multiple of %d.", castStep))
	dst, src, n := g.loadArg("dst"), g.loadArg("src"), g.loadArg("n")
	magic, any, zero := g.v(), g.v(), g.v()
	g.VMOVDQU(g.vector32("magic52", 0, 0x43380000, 0, 0x43380000, 0, 0x43380000, 0, 0x43380000), magic)
	g.VPXOR(any, any, any)
	g.VPXOR(zero, zero, zero)
	g.Label("loop")
	for i := range 8 {
		x, m := g.v(), g.v()
		g.VMOVDQU(at(src, 32*i), x)
		g.VPCMPGTQ(x, zero, m)
		g.VPXOR(x, m, m) // the number, or one less than its opposite
		g.VPOR(m, any, any)
		g.VPADDQ(magic, x, x)
		g.VSUBPD(magic, x, x)
		y := g.XMM()
		g.VCVTPD2PSY(x, y)
		g.VMOVUPS(y, at(dst, 16*i))
	}
	g.ADDQ(imm(8*castStep), src)
	g.ADDQ(imm(4*castStep), dst)
	g.SUBQ(imm(castStep), n)
	g.JG(label("loop"))
	g.returnAny(any)
}

// returnAny returns the bits that any of 4 integers of 64 bits has.
func (g *gen) returnAny(any reg.VecVirtual) {
	upper, other := g.XMM(), g.XMM()
	r := g.GP64()
	g.VEXTRACTI128(operand.U8(1), any, upper)
	g.VPOR(any.AsX(), upper, upper)
	g.VPSHUFD(operand.U8(0x4e), upper, other)
	g.VPOR(other, upper, upper)
	g.VMOVQ(upper, r)
	g.Store(r, g.ReturnIndex(0))
	g.ret()
}

// intsOfFloats makes int32 of float32.
func (g *gen) intsOfFloats() {
	g.text("floatToInt32", "func(dst, src *byte, n int) uint64",
		fmt.Sprintf("drops the fractions of float32; the result is not 0 where a number is NaN or none of int32 but "+
			"perhaps its least; n is a multiple of %d.", castStep))
	dst, src, n := g.loadArg("dst"), g.loadArg("src"), g.loadArg("n")
	any := g.v()
	g.VPXOR(any, any, any)
	g.Label("loop")
	for i := range 4 {
		x, m := g.v(), g.v()
		g.VCVTTPS2DQ(at(src, 32*i), x)
		g.VPCMPEQD(g.bcast(0x80000000), x, m)
		g.VPOR(m, any, any)
		g.VMOVDQU(x, at(dst, 32*i))
	}
	g.ADDQ(imm(4*castStep), src)
	g.ADDQ(imm(4*castStep), dst)
	g.SUBQ(imm(castStep), n)
	g.JG(label("loop"))
	g.returnAny(any)
}

// doubles makes float32 of float64 and the other way.
func (g *gen) doubles() {
	g.cast("doubleToFloat", "rounds float64 to float32", 4, 8, func(dst, src reg.GPVirtual) {
		for i := range 8 {
			x := g.XMM()
			g.VCVTPD2PSY(at(src, 32*i), x)
			g.VMOVUPS(x, at(dst, 16*i))
		}
	})
	g.cast("floatToDouble", "widens float32 to float64", 8, 4, func(dst, src reg.GPVirtual) {
		for i := range 8 {
			x := g.v()
			g.VCVTPS2PD(at(src, 16*i), x)
			g.VMOVUPS(x, at(dst, 32*i))
		}
	})
}

// brains makes float32 of bfloat16 and the other way.
func (g *gen) brains() {
	g.cast("brainToFloat", "widens bfloat16 to float32", 4, 2, func(dst, src reg.GPVirtual) {
		for i := range 4 {
			x := g.v()
			g.VPMOVZXWD(at(src, 16*i), x)
			g.VPSLLD(operand.U8(16), x, x)
			g.VMOVDQU(x, at(dst, 32*i))
		}
	})
	g.cast("floatToBrain", "rounds float32 to bfloat16, ties to even", 2, 4, func(dst, src reg.GPVirtual) {
		half := func(i int) reg.VecVirtual {
			x, odd, nan, t := g.v(), g.v(), g.v(), g.v()
			g.VMOVUPS(at(src, 32*i), x)
			g.VCMPPS(operand.U8(predUnord), x, x, nan)
			g.VPSRLD(operand.U8(16), x, odd)
			g.VPAND(g.bcast(1), odd, t)
			g.VPADDD(g.bcast(0x7fff), t, t)
			g.VPADDD(x, t, t)
			g.VPSRLD(operand.U8(16), t, t)
			g.VPOR(g.bcast(0x40), odd, odd) // a quiet NaN
			g.VPBLENDVB(nan, odd, t, t)
			return t
		}
		for i := range 2 {
			x := half(2 * i)
			g.VPACKUSDW(half(2*i+1), x, x)
			g.VPERMQ(operand.U8(0xd8), x, x)
			g.VMOVDQU(x, at(dst, 32*i))
		}
	})
}
