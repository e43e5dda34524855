package main

import (
	"fmt"

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
	// pick64 is the smaller of two, with swap the larger.
	pick64 := func(swap bool) vop {
		return func(o ...operand.Op) { // b, a, r
			m := g.v()
			if swap {
				g.VPCMPGTQ(o[1], o[0], m) // b > a
			} else {
				g.VPCMPGTQ(o[0], o[1], m) // a > b
			}
			g.VBLENDVPD(m, o[0], o[1], o[2])
		}
	}
	three := func(f func(b, a, r operand.Op)) vop {
		return func(o ...operand.Op) { f(o[0], o[1], o[2]) }
	}
	truth := func(op vop) vop {
		return func(o ...operand.Op) {
			ones := g.bcast(0x01010101)
			a, b := g.v(), g.v()
			g.VPMINUB(ones, o[1], a)
			g.VPMINUB(ones, o[0], b)
			op(b, a, o[2])
		}
	}
	ops := []struct {
		name string
		size int
		op   vop
	}{
		{"AddI32", 4, g.VPADDD}, {"SubI32", 4, g.VPSUBD}, {"MulI32", 4, g.VPMULLD}, {"MinI32", 4, g.VPMINSD},
		{"MaxI32", 4, g.VPMAXSD}, {"AddI64", 8, g.VPADDQ}, {"SubI64", 8, g.VPSUBQ}, {"MinI64", 8, pick64(false)},
		{"MaxI64", 8, pick64(true)}, {"AndBits", 1, three(g.VPAND)}, {"OrBits", 1, three(g.VPOR)},
		{"XorBits", 1, three(g.VPXOR)},
		{"AndBool", 1, truth(three(g.VPAND))}, {"OrBool", 1, truth(three(g.VPOR))}, {"XorBool", 1, truth(three(g.VPXOR))},
	}
	for _, o := range ops {
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
	}
}

// everyAt repeats the element of size bytes that p points at.
func (g *gen) everyAt(p reg.GPVirtual, size int) reg.VecVirtual {
	r := g.v()
	switch size {
	case 1:
		g.VPBROADCASTB(at(p, 0), r)
	case 4:
		g.VPBROADCASTD(at(p, 0), r)
	default:
		g.VPBROADCASTQ(at(p, 0), r)
	}
	return r
}

// comparisons make bytes of 0 and 1.
func comparisons(g *gen) {
	if g.wide() {
		return
	}
	// compare leaves ones where it holds, or where it does not with not.
	compare := func(kind, name string, a, b reg.Register) (m reg.VecVirtual, not bool) {
		m = g.v()
		if kind == "F32" {
			g.VCMPPS(operand.U8(map[string]uint8{"Less": 0x11, "LessEqual": 0x12, "Greater": 0x1e, "GreaterEqual": 0x1d,
				"Equal": 0x00, "NotEqual": 0x04}[name]), b, a, m)
			return m, false
		}
		greater, equal := g.VPCMPGTD, g.VPCMPEQD
		if kind == "I64" {
			greater, equal = g.VPCMPGTQ, g.VPCMPEQQ
		}
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
	for _, kind := range []string{"F32", "I32", "I64"} {
		size := 4
		if kind == "I64" {
			size = 8
		}
		for _, name := range []string{"Less", "LessEqual", "Greater", "GreaterEqual", "Equal", "NotEqual"} {
			for _, repeats := range []bool{false, true} {
				shape, of := "vv", "CompareVV"
				if repeats {
					shape, of = "vs", "CompareVS"
				}
				g.text(shape+name+kind, "func(dst, a, b *byte, n int)",
					fmt.Sprintf("is %s of [%s] on n values, a multiple of %d.", name, of, pairStep))
				dst, a, b, n := g.loadArg("dst"), g.loadArg("a"), g.loadArg("b"), g.loadArg("n")
				ptrs, by := []reg.GPVirtual{dst, a, b}, []int{pairStep, size * pairStep, size * pairStep}
				var s reg.VecVirtual
				if repeats {
					s, ptrs, by = g.everyAt(b, size), ptrs[:2], by[:2]
				}
				g.steps(n, pairStep, ptrs, by, func() {
					negate := false
					mask := func(i int) reg.VecVirtual {
						x, y := g.v(), s
						g.VMOVUPS(at(a, 32*i), x)
						if !repeats {
							y = g.v()
							g.VMOVUPS(at(b, 32*i), y)
						}
						m, not := compare(kind, name, x, y)
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
					p, q := words(0), words(1)
					g.VPACKSSDW(q, p, p)
					q, r := words(2), words(3)
					g.VPACKSSDW(r, q, q)
					g.VPACKSSWB(q, p, p)
					order := g.v()
					g.VMOVDQU(g.vector32("bytesOfMasks", 0, 4, 1, 5, 2, 6, 3, 7), order)
					g.VPERMD(p, order, p)
					if negate {
						g.VPANDN(g.bcast(0x01010101), p, p)
					} else {
						g.VPAND(g.bcast(0x01010101), p, p)
					}
					g.VMOVDQU(p, at(dst, 0))
				})
			}
		}
	}
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
