package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// pairUnit is the number of channels that the depthwise kernels of AVX2 compute side by side. Their codes are widened
// to 16-bit words, and the words of two taps interleaved, so that each lane of a product is a channel's sum of two
// taps. Two vectors of sums are a unit; packed, they are in the order of the channels.
const pairUnit = 16

func x(v reg.VecPhysical) reg.Register { return v.(reg.Vec).AsX() }
func y(v reg.VecPhysical) reg.Register { return v.(reg.Vec).AsY() }

// pairWindow is dotWindow of AVX2. Vectors: 0, 1 sums of 16 channels; 2-4 and 5-7 two pairs of taps, interleaved; 13
// the zero point; 14, 15 limits.
func (g *gen) pairWindow() {
	g.text("dotWindow", "func(channels, n, groups int, taps **uint8, ix int, w *int8, out *uint8, ldo int, init *int32, "+
		"scale, add, low *float32, zero, lo, hi int)",
		"computes n neighbouring positions of a depthwise convolution of codes, of at least 16 channels. taps are groups of",
		"four pointers to the codes of the first position, ix bytes from one position to the next.",
		"w, init, scale, add and low are in units of 16 channels, the last of which may overlap; init, add and low may be",
		"nil.")
	v := g.vec
	code := g.codeConstants()
	first := g.AllocLocal(8)
	g.MOVQ(operand.I32(0), first)
	off, outp, w, tab, count, groups := g.GP64(), g.GP64(), g.GP64(), g.GP64(), g.GP64(), g.GP64()
	p := g.GP64()
	g.Comment("one unit of channels")
	g.Label("unit")
	g.MOVQ(first, off)
	g.MOVQ(g.arg("n"), count)
	g.MOVQ(g.arg("out"), outp)
	g.ADDQ(off, outp)
	init, scale, add := g.orZeros("init"), g.loadArg("scale"), g.orZeros("add")
	g.Comment("one position")
	g.Label("position")
	for i := range 2 {
		g.VMOVDQU(at(init, 32*i), v[i])
	}
	g.MOVQ(g.arg("taps"), tab)
	g.MOVQ(g.arg("w"), w)
	g.MOVQ(g.arg("groups"), groups)
	g.Label("group")
	for pair := range 2 {
		a, b, high := v[2+3*pair], v[3+3*pair], v[4+3*pair]
		for i, y := range []reg.VecPhysical{a, b} {
			g.MOVQ(at(tab, 8*(2*pair+i)), p)
			g.VPMOVZXBW(idx(p, off, 1, 0), y)
		}
		g.VPUNPCKHWD(b, a, high)
		g.VPUNPCKLWD(b, a, a)
		for i, y := range []reg.VecPhysical{a, high} {
			g.VPMADDWD(at(w, 64*pair+32*i), y, y)
			g.VPADDD(y, v[i], v[i])
		}
	}
	g.ADDQ(imm(128), w)
	g.ADDQ(imm(32), tab)
	g.SUBQ(operand.Imm(1), groups)
	g.JNZ(label("group"))
	g.storeUnit("", v[0], v[1], scale, add, code, outp, [2]reg.VecPhysical{v[2], v[3]})
	g.ADDQ(g.arg("ldo"), outp)
	g.ADDQ(g.arg("ix"), off)
	g.SUBQ(operand.Imm(1), count)
	g.JNZ(label("position"))
	g.MOVQ(w, g.arg("w"))
	g.nextUnit(first)
	g.ret()
}

// codeConstants are the zero point and the limits of codes, in the last three vectors.
func (g *gen) codeConstants() (c [3]reg.VecPhysical) {
	copy(c[:], g.vec[13:])
	g.everyWord("zero", c[0])
	g.everyByte("lo", c[1])
	g.everyByte("hi", c[2])
	return c
}

// orZeros is an argument that points to values of a unit, and to zeros if it is nil.
func (g *gen) orZeros(name string) reg.GPVirtual {
	p, zeros := g.loadArg(name), g.GP64()
	g.LEAQ(g.bcast(0), zeros)
	g.TESTQ(p, p)
	g.CMOVQEQ(zeros, p)
	return p
}

// storeUnit requantizes the two vectors of a unit and stores its codes. The labels it needs end with suffix.
func (g *gen) storeUnit(suffix string, a, b reg.VecPhysical, scale, add reg.Register, code [3]reg.VecPhysical,
	out reg.Register, work [2]reg.VecPhysical) {
	g.optional("low", suffix, func(low reg.GPVirtual) {
		for i, v := range []reg.VecPhysical{a, b} {
			g.roundDown(v, at(scale, 32*i), at(low, 32*i), at(add, 32*i), work)
		}
		g.JMP(label("rounded" + suffix))
	})
	for i, v := range []reg.VecPhysical{a, b} {
		g.VCVTDQ2PS(v, v)
		g.VMULPS(at(scale, 32*i), v, v)
		g.VADDPS(at(add, 32*i), v, v)
		g.VCVTPS2DQ(v, v)
	}
	g.Label("rounded" + suffix)
	g.VPACKSSDW(b, a, a)
	g.VPADDSW(code[0], a, a)
	g.VPACKUSWB(a, a, a)
	g.VPERMQ(operand.U8(0x08), a, a)
	g.VPMAXUB(x(code[1]), x(a), x(a))
	g.VPMINUB(x(code[2]), x(a), x(a))
	g.VMOVDQU(x(a), at(out, 0))
}

// nextUnit moves the pointers to values per channel on to the next unit, and jumps to label "unit" unless there is
// none. The unit's first channel is at most that of the last whole unit.
func (g *gen) nextUnit(first operand.Mem) {
	for _, name := range []string{"init", "scale", "add", "low"} {
		g.CMPQ(g.arg(name), operand.Imm(0))
		g.JEQ(label("keep" + name))
		g.ADDQ(imm(4*pairUnit), g.arg(name))
		g.Label("keep" + name)
	}
	next, last := g.GP64(), g.GP64()
	g.MOVQ(first, next)
	g.MOVQ(g.arg("channels"), last)
	g.SUBQ(imm(pairUnit), last)
	g.CMPQ(next, last)
	g.JGE(label("end"))
	g.ADDQ(imm(pairUnit), next)
	g.CMPQ(next, last)
	g.CMOVQGT(last, next)
	g.MOVQ(next, first)
	g.JMP(label("unit"))
	g.Label("end")
}

// pairSlide is dotSlide of AVX2: of each column the words of the first two taps are interleaved, and the third tap's
// with zeros. Vectors: 0-5 sums of three positions; 6-9 a column, interleaved; 10, 11 products; 12 zeros; 13 the zero
// point; 14, 15 limits.
func (g *gen) pairSlide() {
	g.text("dotSlide", "func(channels, n int, rows **uint8, ix int, w *int8, out *uint8, ldo int, init *int32, scale, "+
		"add, low *float32, zero, lo, hi int)",
		"computes n neighbouring positions of a depthwise 3x3 convolution of codes with stride 1, of at least 16 "+
			"channels.",
		"rows are three pointers to the first column, ix bytes from one column to the next. w, init, scale, add and low are",
		"in units of 16 channels, the last of which may overlap; add and low may be nil.")
	v := g.vec
	columns, products, nothing := v[6:10], v[10:12], v[12]
	code := g.codeConstants()
	g.zero(nothing)
	first := g.AllocLocal(8)
	g.MOVQ(operand.I32(0), first)
	r := [3]reg.GPVirtual{g.GP64(), g.GP64(), g.GP64()}
	ix, ldo, n, outp, scale := g.loadArg("ix"), g.loadArg("ldo"), g.GP64(), g.GP64(), g.GP64()
	offset, w, init := g.GP64(), g.GP64(), g.GP64()
	sum := func(a, i int) reg.VecPhysical { return v[2*a+i] }
	g.Comment("one unit of channels")
	g.Label("unit")
	tab := g.loadArg("rows")
	for i := range r {
		g.MOVQ(at(tab, 8*i), r[i])
	}
	g.MOVQ(first, offset)
	g.MOVQ(g.arg("w"), w)
	g.MOVQ(g.arg("n"), n)
	g.MOVQ(g.arg("out"), outp)
	g.ADDQ(first, outp)
	g.MOVQ(g.arg("init"), init)
	g.MOVQ(g.arg("scale"), scale)
	plus := g.orZeros("add")
	column := func() {
		for i := range r {
			g.VPMOVZXBW(idx(r[i], offset, 1, 0), columns[i])
		}
		g.ADDQ(ix, offset)
		g.VPUNPCKHWD(nothing, columns[2], columns[3])
		g.VPUNPCKLWD(nothing, columns[2], columns[2])
		g.VPUNPCKHWD(columns[1], columns[0], products[0])
		g.VPUNPCKLWD(columns[1], columns[0], columns[0])
		g.VMOVDQA(products[0], columns[1])
	}
	add := func(a, kx int) {
		for pair := range 2 {
			for i := range 2 {
				g.VPMADDWD(at(w, 128*kx+64*pair+32*i), columns[2*pair+i], products[i])
				if kx == 0 && pair == 0 {
					g.VPADDD(at(init, 32*i), products[i], sum(a, i))
				} else {
					g.VPADDD(products[i], sum(a, i), sum(a, i))
				}
			}
		}
	}
	column()
	add(0, 0)
	column()
	add(0, 1)
	add(1, 0)
	g.Label("positions")
	for p := range 3 {
		column()
		add(p, 2)
		add((p+1)%3, 1)
		add((p+2)%3, 0)
		g.storeUnit(fmt.Sprint(p), sum(p, 0), sum(p, 1), scale, plus, code, outp, [2]reg.VecPhysical(products))
		g.ADDQ(ldo, outp)
		g.SUBQ(operand.Imm(1), n)
		if p < 2 {
			g.JZ(label("done"))
		}
	}
	g.JNZ(label("positions"))
	g.Label("done")
	g.ADDQ(imm(3*128), g.arg("w"))
	g.nextUnit(first)
	g.ret()
}
