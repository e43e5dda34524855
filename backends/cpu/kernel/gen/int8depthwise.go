package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// int8depthwise emits depthwise convolutions of codes, those of the wide level with VNNI.
func int8depthwise(g *gen) {
	if g.wide() {
		for _, wide := range []bool{false, true} {
			g.dotWindow(wide)
			g.dotSlide(wide)
		}
	} else {
		g.pairWindow()
		g.pairSlide()
	}
}

// dotWindow interleaves the bytes of four taps, so that each word holds one channel. Vectors: 0-3 sums of 64 channels;
// 8-11 the bytes of four taps, then the store's work; 12-15 and 16-19 the stages of interleaving; 28, 29 limits; 30 the
// zero point; 31 zeros. K2 is the mask of the channels.
func (g *gen) dotWindow(wide bool) {
	name, more := "dotWindow", "w, init, scale, add and low are in the order of lanes; init, add and low may be nil."
	if wide {
		name, more = "dotWideWindow", more+" A group has two of each weight."
	}
	g.text(name, "func(channels, n, groups int, taps **uint8, ix int, w *int8, out *uint8, ldo int, init *int32, "+
		"scale, add, low *float32, zero, lo, hi int)",
		"computes n neighbouring positions of a depthwise convolution of codes. taps are groups of four",
		"pointers to the codes of the first position, ix bytes from one position to the next.",
		more)
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
	g.optional("init", "", func(p reg.GPVirtual) {
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
	if wide {
		for i := range 4 {
			g.dot(at(w, 64*i), v[16+i], v[i])
		}
		g.ADDQ(imm(256), w)
	}
	g.ADDQ(imm(32), tab)
	g.SUBQ(operand.Imm(1), groups)
	g.JNZ(label("group"))
	g.storeChannels("", v[:4], g.loadArg("scale"), [2]reg.VecPhysical{v[8], v[9]}, zero, lo, hi)
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

// storeChannels requantizes the four vectors of sums of a block and packs them into codes in the first of them. zero,
// lo and hi are in vectors or in memory; labels end with suffix.
func (g *gen) storeChannels(suffix string, sums []reg.VecPhysical, scale reg.Register, work [2]reg.VecPhysical,
	zero, lo, hi operand.Op) {
	g.optional("low", suffix, func(low reg.GPVirtual) {
		add := g.loadArg("add")
		for i, x := range sums {
			g.VMOVUPS(at(low, 64*i), work[1])
			g.roundHalvesUp(x, at(scale, 64*i), work[1], at(add, 64*i), work[0])
		}
		g.JMP(label("rounded" + suffix))
	})
	for i, x := range sums {
		g.VCVTDQ2PS(x, x)
		g.VMULPS(at(scale, 64*i), x, x)
	}
	g.optional("add", suffix, func(p reg.GPVirtual) {
		for i, x := range sums {
			g.VADDPS(at(p, 64*i), x, x)
		}
	})
	for _, x := range sums {
		g.VCVTPS2DQ(x, x)
	}
	g.Label("rounded" + suffix)
	g.packInts(4, func(i int) reg.VecPhysical { return sums[i] }, zero)
	g.VPMAXUB(lo, sums[0], sums[0])
	g.VPMINUB(hi, sums[0], sums[0])
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
// positions. Vectors: 0-11 sums of three positions; 12-15 a column, interleaved; 15-18 the stages of interleaving; 19
// zeros; 20-31 weights [column][vector]. The zero point and the limits are in memory. K2 is the mask of the channels.
func (g *gen) dotSlide(wide bool) {
	name, more, size := "dotSlide", "and low may be nil.", 4*64
	if wide {
		name, more, size = "dotWideSlide", more+" A column has two of each weight.", 2*size
	}
	g.text(name, "func(channels, n int, rows **uint8, ix int, w *int8, out *uint8, ldo int, init *int32, scale, "+
		"add, low *float32, zero, lo, hi int)",
		"computes n neighbouring positions of a depthwise 3x3 convolution of codes with stride 1. rows are three pointers to",
		"the first column, ix bytes from one column to the next. w, init, scale, add and low are in the order of lanes; add",
		more)
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
		if wide {
			w := g.loadArg("w")
			for i := range 4 {
				g.dot(at(w, size*kx+4*64+64*i), v[data+i], v[acc+4*a+i])
			}
		}
	}
	finish := func(a int) {
		sums := v[acc+4*a : acc+4*a+4]
		g.storeChannels(fmt.Sprint(a), sums, scale, [2]reg.VecPhysical{v[data], v[data+1]}, part(0), part(1), part(2))
		g.VMOVDQU8(sums[0], reg.K2, at(outp, 0))
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
		g.VMOVDQU32(at(w, i/4*size+i%4*64), v[weights+i])
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
	g.ADDQ(imm(3*size), g.arg("w"))
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
