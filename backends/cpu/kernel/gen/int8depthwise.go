package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// int8depthwise emits depthwise convolutions of codes, those of the wide level with VNNI, and element-wise functions of
// codes.
func int8depthwise(g *gen) {
	if g.wide() {
		g.dotWindow()
		g.dotSlide()
	} else {
		g.pairWindow()
		g.pairSlide()
	}
	g.combine()
	g.maxU8()
	g.encode()
	nearest(g)
}

// dotWindow interleaves the bytes of four taps, so that each word holds one channel.
func (g *gen) dotWindow() {
	g.text("dotWindow", "func(channels, n, groups int, taps **uint8, ix int, w *int8, out *uint8, ldo int, init *int32, "+
		"scale, add, low *float32, zero, lo, hi int)",
		"computes n neighbouring positions of a depthwise convolution of codes. taps are groups of four",
		"pointers to the codes of the first position, ix bytes from one position to the next.",
		"w, init, scale, add and low are in the order of lanes; init, add and low may be nil.")
	v := g.vec
	zeros := v[31]
	g.zero(zeros)
	block := g.AllocLocal(8) // first channel
	off, outp, w, tab, count, groups := g.GP64(), g.GP64(), g.GP64(), g.GP64(), g.GP64(), g.GP64()
	p := [4]reg.GPVirtual{g.GP64(), g.GP64(), g.GP64(), g.GP64()}
	g.MOVQ(operand.I32(0), block)
	zero, lo, hi := v[30], v[29], v[28]
	g.everyWord("zero", zero)
	g.everyByte("lo", lo)
	g.everyByte("hi", hi)
	g.Comment("one block of up to 64 channels")
	g.Label("block")
	g.channelMask()
	g.MOVQ(block, off)
	g.MOVQ(g.arg("n"), count)
	g.MOVQ(g.arg("out"), outp)
	g.Comment("one position")
	g.Label("position")
	for i := range 4 {
		g.zero(v[i])
	}
	g.optional("init", func(p reg.GPVirtual) {
		for i := range 4 {
			g.VMOVDQU32(at(p, 64*i), v[i])
		}
	})
	g.MOVQ(g.arg("taps"), tab)
	g.MOVQ(g.arg("w"), w)
	g.MOVQ(g.arg("groups"), groups)
	g.Label("group")
	for i := range p {
		g.MOVQ(at(tab, 8*i), p[i])
	}
	for i := range p {
		g.VMOVDQU8_Z(idx(p[i], off, 1, 0), reg.K2, v[8+i])
	}
	g.VPUNPCKLBW(v[9], v[8], v[12])
	g.VPUNPCKHBW(v[9], v[8], v[13])
	g.VPUNPCKLBW(v[11], v[10], v[14])
	g.VPUNPCKHBW(v[11], v[10], v[15])
	g.VPUNPCKLWD(v[14], v[12], v[16])
	g.VPUNPCKHWD(v[14], v[12], v[17])
	g.VPUNPCKLWD(v[15], v[13], v[18])
	g.VPUNPCKHWD(v[15], v[13], v[19])
	for i := range 4 {
		g.dot(at(w, 64*i), v[16+i], v[i])
	}
	g.ADDQ(imm(256), w)
	g.ADDQ(imm(32), tab)
	g.SUBQ(operand.Imm(1), groups)
	g.JNZ(label("group"))
	scale := g.loadArg("scale")
	g.optional("low", func(low reg.GPVirtual) {
		add := g.loadArg("add")
		for i := range 4 {
			g.VMOVUPS(at(low, 64*i), v[9])
			g.roundHalvesUp(v[i], at(scale, 64*i), v[9], at(add, 64*i), v[8])
		}
		g.JMP(label("rounded"))
	})
	for i := range 4 {
		g.VCVTDQ2PS(v[i], v[i])
		g.VMULPS(at(scale, 64*i), v[i], v[i])
	}
	g.optional("add", func(p reg.GPVirtual) {
		for i := range 4 {
			g.VADDPS(at(p, 64*i), v[i], v[i])
		}
	})
	for i := range 4 {
		g.VCVTPS2DQ(v[i], v[i])
	}
	g.Label("rounded")
	g.packInts(4, func(i int) reg.VecPhysical { return v[i] }, zero)
	g.VPMAXUB(lo, v[0], v[0])
	g.VPMINUB(hi, v[0], v[0])
	g.VMOVDQU8(v[0], reg.K2, at(outp, 0))
	g.ADDQ(g.arg("ldo"), outp)
	g.ADDQ(g.arg("ix"), off)
	g.SUBQ(operand.Imm(1), count)
	g.JNZ(label("position"))
	g.MOVQ(w, g.arg("w"))
	g.ADDQ(operand.Imm(64), block)
	g.ADDQ(operand.Imm(64), g.arg("out"))
	g.ADDQ(imm(256), g.arg("scale"))
	for _, name := range []string{"init", "add", "low"} {
		g.CMPQ(g.arg(name), operand.Imm(0))
		g.JEQ(label("keep" + name))
		g.ADDQ(imm(256), g.arg(name))
		g.Label("keep" + name)
	}
	g.SUBQ(imm(64), g.arg("channels"))
	g.JG(label("block"))
	g.ret()
}

// channelMask sets mask K2 to the first 64 of the bytes that argument channels counts.
func (g *gen) channelMask() {
	left, most := g.GP64(), g.GP64()
	g.MOVQ(g.arg("channels"), left)
	g.MOVQ(operand.I32(64), most)
	g.CMPQ(left, most)
	g.CMOVQGT(most, left)
	g.MOVQ(operand.I32(-1), most)
	g.BZHIQ(left, most, most)
	g.KMOVQ(most, reg.K2)
}

// dotSlide keeps the three columns of a window in flight: each is read and interleaved once, for three neighbouring
// positions.
func (g *gen) dotSlide() {
	g.text("dotSlide", "func(channels, n int, rows **uint8, ix int, w *int8, out *uint8, ldo int, init *int32, scale, "+
		"add, low *float32, zero, lo, hi int)",
		"computes n neighbouring positions of a depthwise 3x3 convolution of codes with stride 1. rows are three pointers to",
		"the first column, ix bytes from one column to the next. w, init, scale, add and low are in the order of lanes; add",
		"and low may be nil.")
	v := g.vec
	const acc, data, spare, weights = 0, 12, 15, 20
	consts := g.AllocLocal(3 * 64)
	block := g.AllocLocal(8)
	g.MOVQ(operand.I32(0), block)
	part := func(i int) operand.Mem { return consts.Offset(64 * i) }
	for i, name := range []string{"zero", "lo", "hi"} {
		if i == 0 {
			g.everyWord(name, v[0])
		} else {
			g.everyByte(name, v[0])
		}
		g.VMOVDQU32(v[0], part(i))
	}
	r := [3]reg.GPVirtual{g.GP64(), g.GP64(), g.GP64()}
	ix, n, outp, init, scale, ldo := g.loadArg("ix"), g.GP64(), g.GP64(), g.GP64(), g.GP64(), g.loadArg("ldo")
	nothing := v[19]
	g.zero(nothing)
	column := func() {
		for i := range r {
			g.VMOVDQU8_Z(at(r[i], 0), reg.K2, v[data+i])
			g.ADDQ(ix, r[i])
		}
		g.VPUNPCKLBW(v[data+1], v[data], v[spare])
		g.VPUNPCKHBW(v[data+1], v[data], v[spare+1])
		g.VPUNPCKLBW(nothing, v[data+2], v[spare+2])
		g.VPUNPCKHBW(nothing, v[data+2], v[spare+3])
		g.VPUNPCKLWD(v[spare+2], v[spare], v[data])
		g.VPUNPCKHWD(v[spare+2], v[spare], v[data+1])
		g.VPUNPCKLWD(v[spare+3], v[spare+1], v[data+2])
		g.VPUNPCKHWD(v[spare+3], v[spare+1], v[data+3])
	}
	start := func(a int) {
		for i := range 4 {
			g.VMOVDQU32(at(init, 64*i), v[acc+4*a+i])
		}
	}
	add := func(a, kx int) {
		for i := range 4 {
			g.dot(v[weights+4*kx+i], v[data+i], v[acc+4*a+i])
		}
	}
	finish := func(a int) {
		x := func(i int) reg.VecPhysical { return v[acc+4*a+i] }
		rounded, single := fmt.Sprint("rounded", a), fmt.Sprint("single", a)
		low := g.loadArg("low")
		g.TESTQ(low, low)
		g.JZ(label(single))
		shift := g.loadArg("add")
		for i := range 4 {
			g.VMOVUPS(at(low, 64*i), v[data+1])
			g.roundHalvesUp(x(i), at(scale, 64*i), v[data+1], at(shift, 64*i), v[data])
		}
		g.JMP(label(rounded))
		g.Label(single)
		for i := range 4 {
			g.VCVTDQ2PS(x(i), x(i))
			g.VMULPS(at(scale, 64*i), x(i), x(i))
		}
		name := fmt.Sprint("noadd", a)
		p := g.loadArg("add")
		g.TESTQ(p, p)
		g.JZ(label(name))
		for i := range 4 {
			g.VADDPS(at(p, 64*i), x(i), x(i))
		}
		g.Label(name)
		for i := range 4 {
			g.VCVTPS2DQ(x(i), x(i))
		}
		g.Label(rounded)
		g.VMOVDQU32(part(0), v[spare])
		g.packInts(4, x, v[spare])
		g.VPMAXUB(part(1), x(0), x(0))
		g.VPMINUB(part(2), x(0), x(0))
		g.VMOVDQU8(x(0), reg.K2, at(outp, 0))
		g.ADDQ(ldo, outp)
	}
	g.Comment("one block of up to 64 channels")
	g.Label("block")
	g.channelMask()
	tab := g.loadArg("rows")
	for i := range r {
		g.MOVQ(at(tab, 8*i), r[i])
		g.ADDQ(block, r[i])
	}
	w := g.loadArg("w")
	for i := range 12 {
		g.VMOVDQU32(at(w, 64*i), v[weights+i])
	}
	g.MOVQ(g.arg("n"), n)
	g.MOVQ(g.arg("out"), outp)
	g.MOVQ(g.arg("init"), init)
	g.MOVQ(g.arg("scale"), scale)
	column()
	start(0)
	add(0, 0)
	column()
	start(1)
	add(0, 1)
	add(1, 0)
	g.Label("positions")
	for p := range 3 {
		column()
		start((p + 2) % 3)
		add(p, 2)
		add((p+1)%3, 1)
		add((p+2)%3, 0)
		finish(p)
		g.SUBQ(operand.Imm(1), n)
		if p < 2 {
			g.JZ(label("done"))
		}
	}
	g.JNZ(label("positions"))
	g.Label("done")
	g.ADDQ(operand.Imm(64), block)
	g.ADDQ(operand.Imm(64), g.arg("out"))
	g.ADDQ(imm(12*64), g.arg("w"))
	g.ADDQ(imm(256), g.arg("init"))
	g.ADDQ(imm(256), g.arg("scale"))
	for _, name := range []string{"add", "low"} {
		g.CMPQ(g.arg(name), operand.Imm(0))
		g.JEQ(label("keep" + name))
		g.ADDQ(imm(256), g.arg(name))
		g.Label("keep" + name)
	}
	g.SUBQ(imm(64), g.arg("channels"))
	g.JG(label("block"))
	g.ret()
}

// order is the permutation of words after two rounds of packing four vectors.
func (g *gen) order() operand.Mem {
	if g.wide() {
		return g.quads()
	}
	if m, ok := g.consts["pairs"]; ok {
		return m
	}
	m := g.StaticGlobal("pairs")
	g.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 8 {
		g.AddDatum(4*i, operand.U32(uint32(i%2*4+i/2)))
	}
	g.consts["pairs"] = m
	return m
}

// combine scales codes, and the sum of two.
func (g *gen) combine() {
	g.text("combine", "func(dst, a, b *uint8, n int, fa, fb, add float32, zero, lo, hi int)",
		"is dst = clamp(round(a*fa + b*fb + add) + zero, lo, hi) on n codes, a positive multiple of 64; without b its term "+
			"is left out.")
	v := g.vec
	dst, a, b, n := g.loadArg("dst"), g.loadArg("a"), g.loadArg("b"), g.loadArg("n")
	fa, fb, add, zero, lo, hi, order := v[8], v[9], v[10], v[11], v[12], v[13], v[14]
	g.VBROADCASTSS(g.arg("fa"), fa)
	g.VBROADCASTSS(g.arg("fb"), fb)
	g.VBROADCASTSS(g.arg("add"), add)
	g.everyWord("zero", zero)
	g.everyByte("lo", lo)
	g.everyByte("hi", hi)
	g.VMOVUPS(g.order(), order)
	loop := func(name string, two bool) {
		g.Label(name)
		for i := range 4 {
			g.VPMOVZXBD(at(a, i*g.lanes), v[i])
			g.VCVTDQ2PS(v[i], v[i])
			g.VMULPS(fa, v[i], v[i])
			if two {
				y := v[4+i]
				g.VPMOVZXBD(at(b, i*g.lanes), y)
				g.VCVTDQ2PS(y, y)
				g.VMULPS(fb, y, y)
				g.VADDPS(y, v[i], v[i])
			}
			g.VADDPS(add, v[i], v[i])
		}
		g.pack4(func(i int) reg.VecPhysical { return v[i] }, zero)
		g.VPERMD(v[0], order, v[0])
		g.VPMAXUB(lo, v[0], v[0])
		g.VPMINUB(hi, v[0], v[0])
		g.VMOVUPS(v[0], at(dst, 0))
		g.ADDQ(imm(4*g.lanes), a)
		if two {
			g.ADDQ(imm(4*g.lanes), b)
		}
		g.ADDQ(imm(4*g.lanes), dst)
		g.SUBQ(imm(4*g.lanes), n)
		g.JG(label(name))
		g.ret()
	}
	g.TESTQ(b, b)
	g.JZ(label("one"))
	loop("two", true)
	loop("one", false)
}

func (g *gen) maxU8() {
	g.text("maxU8", "func(dst, src *uint8, n int)", "is dst = max(dst, src) on n codes, a positive multiple of 64.")
	dst, src, n := g.loadArg("dst"), g.loadArg("src"), g.loadArg("n")
	x := g.vec[0]
	g.Label("loop")
	g.VMOVUPS(at(src, 0), x)
	g.VPMAXUB(at(dst, 0), x, x)
	g.VMOVUPS(x, at(dst, 0))
	g.ADDQ(imm(g.bytes()), src)
	g.ADDQ(imm(g.bytes()), dst)
	g.SUBQ(imm(g.bytes()), n)
	g.JG(label("loop"))
	g.ret()
}

// encode quantizes with a true division.
func (g *gen) encode() {
	g.text("encode", "func(dst *uint8, src *float32, n int, scale, lo, hi float32, zero int)",
		"is dst = round(clamp(src/scale, lo, hi)) + zero on n values, a positive multiple of 64, NaN counting as 0.")
	v := g.vec
	dst, src, n := g.loadArg("dst"), g.loadArg("src"), g.loadArg("n")
	scale, lo, hi, zero, order, m := v[8], v[9], v[10], v[11], v[12], v[13]
	g.VBROADCASTSS(g.arg("scale"), scale)
	g.VBROADCASTSS(g.arg("lo"), lo)
	g.VBROADCASTSS(g.arg("hi"), hi)
	g.everyWord("zero", zero)
	g.VMOVUPS(g.order(), order)
	g.Label("loop")
	for i := range 4 {
		x := v[i]
		g.VMOVUPS(at(src, i*g.bytes()), x)
		g.VDIVPS(scale, x, x)
		if g.wide() {
			g.VCMPPS(operand.U8(7), x, x, reg.K2) // ordered with itself
			g.VMOVAPS_Z(x, reg.K2, x)
		} else {
			g.VCMPPS(operand.U8(7), x, x, m)
			g.VANDPS(m, x, x)
		}
		g.VMAXPS(lo, x, x)
		g.VMINPS(hi, x, x)
	}
	g.pack4(func(i int) reg.VecPhysical { return v[i] }, zero)
	g.VPERMD(v[0], order, v[0])
	g.VMOVUPS(v[0], at(dst, 0))
	g.ADDQ(imm(4*g.bytes()), src)
	g.ADDQ(imm(g.bytes()), dst)
	g.SUBQ(imm(g.bytes()), n)
	g.JG(label("loop"))
	g.ret()
}
