package main

import (
	"fmt"
	"strings"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// pairStep is how many bytes of results, or elements that are compared, a turn of the loops below makes.
const pairStep = 32

// steps walks n > 0 units, a multiple of step: body makes so many, and each of ptrs moves on by its own bytes.
func (g *gen) steps(n reg.GPVirtual, step int, ptrs []reg.GPVirtual, by []int, body func()) {
	g.Label("loop")
	body()
	for i, p := range ptrs {
		g.ADDQ(imm(by[i]), p)
	}
	g.SUBQ(imm(step), n)
	g.JG(label("loop"))
	g.ret()
}

// integerPairs are functions of integers of two vectors, or of one and a number.
func integerPairs(g *gen) {
	if g.wide() {
		return
	}
	for _, o := range g.integerOps() {
		for _, repeats := range []bool{false, true} {
			kind, of := "vv", "IntegersVV"
			if repeats {
				kind, of = "vs", "IntegersVS"
			}
			g.text(kind+o.name, "func(dst, a, b *byte, n int)",
				fmt.Sprintf("is %s of [%s] on n bytes, a multiple of %d; dst may be a.", o.name, of, pairStep))
			dst, a, b, n := g.loadArg("dst"), g.loadArg("a"), g.loadArg("b"), g.loadArg("n")
			ptrs, by := []reg.GPVirtual{dst, a, b}, []int{32, 32, 32}
			var s reg.VecVirtual
			if repeats {
				s, ptrs, by = g.everyAt(b, o.size), ptrs[:2], by[:2]
			}
			g.steps(n, 32, ptrs, by, func() {
				x, y, r := g.v(), s, g.v()
				g.VMOVDQU(at(a, 0), x)
				if !repeats {
					y = g.v()
					g.VMOVDQU(at(b, 0), y)
				}
				o.op(y, x, r)
				g.VMOVDQU(r, at(dst, 0))
			})
		}
		if !o.folds {
			continue
		}
		g.text("fold"+o.name, "func(dst, a *byte, n int)",
			fmt.Sprintf("is %s of [FoldIntegers] on n bytes, a multiple of %d.", o.name, pairStep))
		dst, a, n := g.loadArg("dst"), g.loadArg("a"), g.loadArg("n")
		sum := g.v()
		g.VMOVDQU(at(dst, 0), sum)
		g.Label("loop")
		x := g.v()
		g.VMOVDQU(at(a, 0), x)
		o.op(x, sum, sum)
		g.ADDQ(imm(32), a)
		g.SUBQ(imm(32), n)
		g.JG(label("loop"))
		g.VMOVDQU(sum, at(dst, 0))
		g.ret()
	}
	for _, o := range g.integerFunctions() {
		g.text("each"+o.name, "func(dst, a *byte, n int)",
			fmt.Sprintf("is %s of [IntegersEach] on n bytes, a multiple of %d; dst may be a.", o.name, pairStep))
		dst, a, n := g.loadArg("dst"), g.loadArg("a"), g.loadArg("n")
		g.steps(n, 32, []reg.GPVirtual{dst, a}, []int{32, 32}, func() {
			x, r := g.v(), g.v()
			g.VMOVDQU(at(a, 0), x)
			o.op(x, r)
			g.VMOVDQU(r, at(dst, 0))
		})
	}
}

// everyAt repeats the element of size bytes that p points at.
func (g *gen) everyAt(p reg.GPVirtual, size int) reg.VecVirtual {
	r := g.v()
	switch size {
	case 1:
		g.VPBROADCASTB(at(p, 0), r)
	case 2:
		g.VPBROADCASTW(at(p, 0), r)
	case 4:
		g.VPBROADCASTD(at(p, 0), r)
	default:
		g.VPBROADCASTQ(at(p, 0), r)
	}
	return r
}

// compared are the types of numbers that are compared, by size. Integers that are equal are so with either sign.
var compared = []struct {
	kind string
	size int
}{
	{"F32", 4}, {"I32", 4}, {"I64", 8}, {"F64", 8}, {"I8", 1}, {"U8", 1}, {"I16", 2}, {"U16", 2}, {"U32", 4}, {"U64", 8},
}

// comparisons make bytes of 0 and 1.
func comparisons(g *gen) {
	if g.wide() {
		return
	}
	g.selections()
	for _, c := range compared {
		for _, name := range []string{"Less", "LessEqual", "Greater", "GreaterEqual", "Equal", "NotEqual"} {
			if c.kind[0] == 'U' && strings.HasSuffix(name, "Equal") && name[0] != 'L' && name[0] != 'G' {
				continue
			}
			for _, repeats := range []bool{false, true} {
				g.comparison(c.kind, c.size, name, repeats)
			}
		}
	}
}

func (g *gen) comparison(kind string, size int, name string, repeats bool) {
	shape, of := "vv", "CompareVV"
	if repeats {
		shape, of = "vs", "CompareVS"
	}
	g.text(shape+name+kind, "func(dst, a, b *byte, n int)",
		fmt.Sprintf("is %s of [%s] on n values, a multiple of %d.", name, of, pairStep))
	dst, a, b, n := g.loadArg("dst"), g.loadArg("a"), g.loadArg("b"), g.loadArg("n")
	ptrs, by := []reg.GPVirtual{dst, a, b}, []int{pairStep, size * pairStep, size * pairStep}
	unsigned := kind[0] == 'U'
	turn := func(v reg.VecVirtual) reg.VecVirtual { // unsigned numbers are compared as signed ones
		if unsigned {
			g.VPXOR(g.signs(size), v, v)
		}
		return v
	}
	var s reg.VecVirtual
	if repeats {
		s, ptrs, by = turn(g.everyAt(b, size)), ptrs[:2], by[:2]
	}
	g.steps(n, pairStep, ptrs, by, func() {
		negate := false
		mask := func(i int) reg.VecVirtual {
			x, y := g.v(), s
			g.VMOVUPS(at(a, 32*i), x)
			turn(x)
			if !repeats {
				y = g.v()
				g.VMOVUPS(at(b, 32*i), y)
				turn(y)
			}
			m, not := g.compare(kind, name, size, x, y)
			negate = not
			return m
		}
		words := func(i int) reg.VecVirtual { // the masks of 8 values
			if size == 4 {
				return mask(i)
			}
			r, m := mask(2*i), mask(2*i+1)
			g.VSHUFPS(operand.U8(0x88), m, r, r)
			g.VPERMQ(operand.U8(0xd8), r, r)
			return r
		}
		var p reg.VecVirtual
		switch size {
		case 1:
			p = mask(0)
		case 2:
			p = mask(0)
			g.VPACKSSWB(mask(1), p, p)
			g.VPERMQ(operand.U8(0xd8), p, p)
		default:
			p = words(0)
			g.VPACKSSDW(words(1), p, p)
			q := words(2)
			g.VPACKSSDW(words(3), q, q)
			g.VPACKSSWB(q, p, p)
			order := g.v()
			g.VMOVDQU(g.vector32("bytesOfMasks", 0, 4, 1, 5, 2, 6, 3, 7), order)
			g.VPERMD(p, order, p)
		}
		if negate {
			g.VPANDN(g.bcast(0x01010101), p, p)
		} else {
			g.VPAND(g.bcast(0x01010101), p, p)
		}
		g.VMOVDQU(p, at(dst, 0))
	})
}

// compare leaves ones where it holds, or where it does not with not.
func (g *gen) compare(kind, name string, size int, a, b reg.Register) (m reg.VecVirtual, not bool) {
	m = g.v()
	if kind[0] == 'F' {
		holds := operand.U8(map[string]uint8{"Less": 0x11, "LessEqual": 0x12, "Greater": 0x1e, "GreaterEqual": 0x1d,
			"Equal": 0x00, "NotEqual": 0x04}[name])
		if size == 8 {
			g.VCMPPD(holds, b, a, m)
		} else {
			g.VCMPPS(holds, b, a, m)
		}
		return m, false
	}
	greater := map[int]vop{1: g.VPCMPGTB, 2: g.VPCMPGTW, 4: g.VPCMPGTD, 8: g.VPCMPGTQ}[size]
	equal := map[int]vop{1: g.VPCMPEQB, 2: g.VPCMPEQW, 4: g.VPCMPEQD, 8: g.VPCMPEQQ}[size]
	switch name {
	case "Less", "GreaterEqual":
		greater(a, b, m)
	case "Greater", "LessEqual":
		greater(b, a, m)
	default:
		equal(b, a, m)
	}
	return m, name == "LessEqual" || name == "GreaterEqual" || name == "NotEqual"
}

// vector32 is a vector of numbers of 32 bits in read-only memory.
func (g *gen) vector32(name string, list ...uint32) operand.Mem {
	if m, ok := g.consts[name]; ok {
		return m
	}
	m := g.StaticGlobal(name)
	g.DataAttributes(attr.RODATA | attr.NOPTR)
	for i, k := range list {
		g.AddDatum(4*i, operand.U32(k))
	}
	g.consts[name] = m
	return m
}

// selections take elements of a where a byte is not 0, and else of b.
func (g *gen) selections() {
	widen := []vop{nil, g.VPMOVZXBW, g.VPMOVZXBD, g.VPMOVZXBQ}
	equal := []vop{g.VPCMPEQB, g.VPCMPEQW, g.VPCMPEQD, g.VPCMPEQQ}
	for k := range equal {
		size := 1 << k
		g.text(fmt.Sprintf("select%d", size), "func(dst, c, a, b *byte, n int)",
			fmt.Sprintf("is [Choose] on n elements of %d bytes, a multiple of %d.", size, pairStep))
		dst, c, a, b, n := g.loadArg("dst"), g.loadArg("c"), g.loadArg("a"), g.loadArg("b"), g.loadArg("n")
		zero := g.v()
		g.VPXOR(zero, zero, zero)
		g.steps(n, pairStep, []reg.GPVirtual{dst, c, a, b}, []int{32 * size, 32, 32 * size, 32 * size}, func() {
			for i := range size {
				m, x := g.v(), g.v()
				if size == 1 {
					g.VMOVDQU(at(c, 0), m)
				} else {
					widen[k](at(c, 32/size*i), m)
				}
				equal[k](zero, m, m)
				g.VMOVDQU(at(a, 32*i), x)
				g.VPBLENDVB(m, at(b, 32*i), x, x)
				g.VMOVDQU(x, at(dst, 32*i))
			}
		})
	}
}
