package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// integerOp computes r of two vectors of integers of size bytes, written op(b, a, r).
type integerOp struct {
	name  string
	size  int
	op    vop
	folds bool // many values can be reduced by it
}

// integerOps are the functions of two integers that have kernels. Sums, products and functions of bits have one for
// both signs.
func (g *gen) integerOps() []integerOp {
	var list []integerOp
	add := func(name string, size int, folds bool, op vop) { list = append(list, integerOp{name, size, op, folds}) }
	for i, op := range []vop{g.VPADDB, g.VPADDW, g.VPADDD, g.VPADDQ} {
		add(fmt.Sprintf("AddI%d", 8<<i), 1<<i, true, op)
	}
	for i, op := range []vop{g.VPSUBB, g.VPSUBW, g.VPSUBD, g.VPSUBQ} {
		add(fmt.Sprintf("SubI%d", 8<<i), 1<<i, false, op)
	}
	for i, op := range []vop{g.multiplyBytes, g.VPMULLW, g.VPMULLD, g.multiplyLong} {
		add(fmt.Sprintf("MulI%d", 8<<i), 1<<i, false, op)
	}
	for i, op := range []vop{g.VPMINSB, g.VPMINSW, g.VPMINSD, g.pickLong(false, false)} {
		add(fmt.Sprintf("MinI%d", 8<<i), 1<<i, true, op)
	}
	for i, op := range []vop{g.VPMAXSB, g.VPMAXSW, g.VPMAXSD, g.pickLong(true, false)} {
		add(fmt.Sprintf("MaxI%d", 8<<i), 1<<i, true, op)
	}
	for i, op := range []vop{g.VPMINUB, g.VPMINUW, g.VPMINUD, g.pickLong(false, true)} {
		add(fmt.Sprintf("LeastU%d", 8<<i), 1<<i, true, op)
	}
	for i, op := range []vop{g.VPMAXUB, g.VPMAXUW, g.VPMAXUD, g.pickLong(true, true)} {
		add(fmt.Sprintf("MostU%d", 8<<i), 1<<i, true, op)
	}
	for i, op := range []vop{g.shiftNarrow(1, true), g.shiftNarrow(2, true), g.VPSLLVD, g.VPSLLVQ} {
		add(fmt.Sprintf("ShlI%d", 8<<i), 1<<i, false, op)
	}
	for i, op := range []vop{g.shiftNarrow(1, false), g.shiftNarrow(2, false), g.VPSRLVD, g.VPSRLVQ} {
		add(fmt.Sprintf("ShrU%d", 8<<i), 1<<i, false, op)
	}
	for _, o := range []struct {
		name string
		op   vop
	}{{"And", three(g.VPAND)}, {"Or", three(g.VPOR)}, {"Xor", three(g.VPXOR)}} {
		add(o.name+"Bits", 1, false, o.op)
		add(o.name+"Bool", 1, false, func(q ...operand.Op) {
			ones := g.bcast(0x01010101)
			a, b := g.v(), g.v()
			g.VPMINUB(ones, q[1], a)
			g.VPMINUB(ones, q[0], b)
			o.op(b, a, q[2])
		})
	}
	return list
}

func three(f func(b, a, r operand.Op)) vop {
	return func(o ...operand.Op) { f(o[0], o[1], o[2]) }
}

// pickLong is the smaller of two integers of 64 bits, or the larger.
func (g *gen) pickLong(larger, unsigned bool) vop {
	return func(o ...operand.Op) { // b, a, r
		m, b, a := g.v(), o[0], o[1]
		if unsigned { // turned, signs order as numbers do
			top := g.signs(8)
			b, a = g.v(), g.v()
			g.VPXOR(top, o[0], b)
			g.VPXOR(top, o[1], a)
		}
		if larger {
			g.VPCMPGTQ(a, b, m)
		} else {
			g.VPCMPGTQ(b, a, m)
		}
		g.VBLENDVPD(m, o[0], o[1], o[2])
	}
}

// signs has the highest bit of each integer of size bytes.
func (g *gen) signs(size int) operand.Mem {
	switch size {
	case 1:
		return g.bcast(0x80808080)
	case 2:
		return g.bcast(0x80008000)
	case 4:
		return g.bcast(0x80000000)
	}
	return g.vector32("signs64", 0, 1<<31, 0, 1<<31, 0, 1<<31, 0, 1<<31)
}

// multiplyBytes multiplies the lower and the upper bytes of words.
func (g *gen) multiplyBytes(o ...operand.Op) {
	low, a, b := g.v(), g.v(), g.v()
	g.VPMULLW(o[0], o[1], low)
	g.VPAND(g.bcast(0x00ff00ff), low, low)
	g.VPSRLW(operand.U8(8), o[1], a)
	g.VPAND(g.bcast(0xff00ff00), o[0], b)
	g.VPMULLW(b, a, a)
	g.VPOR(low, a, o[2])
}

// multiplyLong is the low 64 bits of products: those of the low halves, and the two mixed ones above.
func (g *gen) multiplyLong(o ...operand.Op) {
	low, mixed, t := g.v(), g.v(), g.v()
	g.VPSHUFD(operand.U8(0xb1), o[0], mixed)
	g.VPMULLD(mixed, o[1], mixed)
	g.VPSRLQ(operand.U8(32), mixed, t)
	g.VPADDD(mixed, t, t)
	g.VPSLLQ(operand.U8(32), t, t)
	g.VPMULUDQ(o[0], o[1], low)
	g.VPADDQ(low, t, o[2])
}

// shiftNarrow shifts integers of 1 or 2 bytes by numbers of bits: for each bit of a number, by its value or not at all.
func (g *gen) shiftNarrow(size int, left bool) vop {
	return func(o ...operand.Op) { // b, a, r
		width := 8 * size
		r := g.v()
		g.VMOVDQA(o[1], r)
		for by, k := 1, 0; by < width; by, k = 2*by, k+1 {
			moved, m := g.v(), g.v()
			if left {
				g.VPSLLW(operand.U8(by), r, moved)
			} else {
				g.VPSRLW(operand.U8(by), r, moved)
			}
			if size == 1 { // bits of the other byte
				keep := uint32(0xff) >> by
				if left {
					keep = 0xff << by & 0xff
				}
				g.VPAND(g.bcast(keep*0x01010101), moved, moved)
			}
			g.VPSLLW(operand.U8(width-1-k), o[0], m)
			if size == 2 {
				g.VPSRAW(operand.U8(15), m, m)
			}
			g.VPBLENDVB(m, moved, r, r)
		}
		limit, high := g.v(), g.v() // a longer shift leaves nothing
		if size == 1 {
			g.VMOVDQU(g.bcast(0x07070707), limit)
			g.VPMINUB(limit, o[0], high)
			g.VPCMPEQB(o[0], high, high)
		} else {
			g.VMOVDQU(g.bcast(0x000f000f), limit)
			g.VPMINUW(limit, o[0], high)
			g.VPCMPEQW(o[0], high, high)
		}
		g.VPAND(high, r, o[2])
	}
}

// integerFunctions take one integer, written op(x, r).
func (g *gen) integerFunctions() []integerOp {
	var list []integerOp
	add := func(name string, size int, op func(x, r reg.Register)) {
		list = append(list, integerOp{name: name, size: size, op: func(o ...operand.Op) {
			op(o[0].(reg.Register), o[1].(reg.Register))
		}})
	}
	zeros := func() reg.VecVirtual {
		z := g.v()
		g.VPXOR(z, z, z)
		return z
	}
	subtract := []vop{g.VPSUBB, g.VPSUBW, g.VPSUBD, g.VPSUBQ}
	greater := []vop{g.VPCMPGTB, g.VPCMPGTW, g.VPCMPGTD, g.VPCMPGTQ}
	for i, absolute := range []vop{g.VPABSB, g.VPABSW, g.VPABSD, nil} {
		bits := 8 << i
		add(fmt.Sprintf("AbsI%d", bits), 1<<i, func(x, r reg.Register) {
			if absolute != nil {
				absolute(x, r)
				return
			}
			m := g.v()
			g.VPCMPGTQ(x, zeros(), m)
			g.VPXOR(m, x, r)
			g.VPSUBQ(m, r, r)
		})
		add(fmt.Sprintf("NegI%d", bits), 1<<i, func(x, r reg.Register) { subtract[i](x, zeros(), r) })
		add(fmt.Sprintf("SignI%d", bits), 1<<i, func(x, r reg.Register) {
			z, m := zeros(), g.v()
			greater[i](x, z, m) // where x is negative
			greater[i](z, x, r)
			subtract[i](r, m, r)
		})
	}
	return list
}
