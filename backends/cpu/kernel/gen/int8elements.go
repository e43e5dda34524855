package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// int8elements emits functions of codes element by element.
func int8elements(g *gen) {
	g.combine()
	g.maxU8()
	g.encode()
	nearest(g)
	if g.wide() {
		g.rowSums()
	} else {
		g.rowSumsNarrow()
	}
}

// rowSumsText begins the function that adds up rows.
func (g *gen) rowSumsText() {
	g.text("rowSums", "func(dst *int32, src *uint8, rows, k, ld, runs, down, pairs int)",
		"adds to each number of dst the sum of a row, which is runs of k codes, at least one of each, down bytes apart;",
		"rows, ld bytes apart, are a positive multiple of four. With more than one run k is at most 64. With pairs results",
		"are stored as pairs of 16 bits, 128 times the upper being added to the lower.")
}

// rowSumsNarrow is rowSums of AVX2, row by row: the rest of a run after steps of 32 codes is taken by 16, 8, 4 and
// one. Vectors: 0 sums; 1 codes; 2 zeros.
func (g *gen) rowSumsNarrow() {
	g.rowSumsText()
	sums, codes, zeros := g.vec[0], g.vec[1], g.vec[2]
	dst, src, runs, run := g.loadArg("dst"), g.loadArg("src"), g.GP64(), g.GP64()
	k, p, n, sum := g.loadArg("k"), g.GP64(), g.GP64(), g.GP64()
	g.zero(zeros)
	add := func() {
		g.VPSADBW(zeros, codes, codes)
		g.VPADDQ(codes, sums, sums)
	}
	g.Label("row")
	g.zero(sums)
	g.XORQ(sum, sum)
	g.MOVQ(g.arg("runs"), runs)
	g.MOVQ(src, run)
	g.Label("run")
	g.MOVQ(run, p)
	g.MOVQ(k, n)
	g.SHRQ(operand.Imm(5), n)
	g.JZ(label("part"))
	g.Label("step")
	g.VMOVDQU(at(p, 0), codes)
	add()
	g.ADDQ(imm(32), p)
	g.SUBQ(imm(1), n)
	g.JNZ(label("step"))
	g.Label("part")
	for _, size := range []int{16, 8, 4} {
		next := fmt.Sprint("less", size)
		g.TESTQ(imm(size), k)
		g.JZ(label(next))
		switch size {
		case 16:
			g.VMOVDQU(at(p, 0), x(codes))
		case 8:
			g.VMOVQ(at(p, 0), x(codes))
		case 4:
			g.VMOVD(at(p, 0), x(codes))
		}
		add()
		g.ADDQ(imm(size), p)
		g.Label(next)
	}
	g.MOVQ(k, n)
	g.ANDQ(imm(3), n)
	g.JZ(label("summed"))
	g.Label("code")
	code := g.GP64()
	g.MOVBQZX(at(p, 0), code)
	g.ADDQ(code, sum)
	g.ADDQ(imm(1), p)
	g.SUBQ(imm(1), n)
	g.JNZ(label("code"))
	g.Label("summed")
	g.ADDQ(g.arg("down"), run)
	g.SUBQ(imm(1), runs)
	g.JNZ(label("run"))
	g.VEXTRACTI128(operand.U8(1), sums, x(codes))
	g.VPADDQ(x(codes), x(sums), x(sums))
	g.VPSRLDQ(operand.U8(8), x(sums), x(codes))
	g.VPADDQ(x(codes), x(sums), x(sums))
	g.VMOVQ(x(sums), n)
	g.ADDQ(n, sum)
	g.ADDL(at(dst, 0), sum.As32())
	g.CMPQ(g.arg("pairs"), imm(0))
	g.JEQ(label("store"))
	g.MOVL(sum.As32(), n.As32())
	g.SARL(operand.U8(7), n.As32())
	g.SHLL(operand.U8(16), n.As32())
	g.ANDL(operand.I32(127), sum.As32())
	g.ORL(n.As32(), sum.As32())
	g.Label("store")
	g.MOVL(sum.As32(), at(dst, 0))
	g.ADDQ(imm(4), dst)
	g.ADDQ(g.arg("ld"), src)
	g.SUBQ(imm(1), g.arg("rows"))
	g.JNZ(label("row"))
	g.ret()
}

// rowSums takes absolute differences from zero, which sum up eight codes at a time, of four rows. Vectors: 0-3 sums of
// the rows, eight each; 4-7 codes; 8 zeros. K2 is the mask of the codes of the last step.
func (g *gen) rowSums() {
	g.rowSumsText()
	v := g.vec
	dst, src, rows, ld := g.loadArg("dst"), g.loadArg("src"), g.loadArg("rows"), g.loadArg("ld")
	last, whole, left, at0 := g.GP64(), g.GP64(), g.GP64(), g.GP64()
	g.MOVQ(g.arg("k"), whole)
	g.SUBQ(operand.Imm(1), whole)
	g.MOVQ(whole, left)
	g.ANDQ(operand.Imm(63), left)
	g.ADDQ(operand.Imm(1), left)
	g.SHRQ(operand.Imm(6), whole) // steps before the last
	g.MOVQ(operand.I32(-1), last)
	g.BZHIQ(left, last, last)
	g.KMOVQ(last, reg.K2)
	zeros := v[8]
	g.zero(zeros)
	p := [4]reg.GPVirtual{g.GP64(), g.GP64(), g.GP64(), g.GP64()}
	step := func(load func(i int)) {
		for i := range 4 {
			load(i)
			g.VPSADBW(zeros, v[4+i], v[4+i])
			g.VPADDQ(v[4+i], v[i], v[i])
		}
	}
	finish := func(again string) {
		for i := 0; i < 4; i += 2 { // a and b alternate
			g.VPUNPCKLQDQ(v[i+1], v[i], v[4+i])
			g.VPUNPCKHQDQ(v[i+1], v[i], v[5+i])
			g.VPADDQ(v[5+i], v[4+i], v[4+i])
			g.VEXTRACTI64X4(operand.Imm(1), v[4+i], y(v[5+i]))
			g.VPADDQ(y(v[5+i]), y(v[4+i]), y(v[4+i]))
			g.VEXTRACTI128(operand.Imm(1), y(v[4+i]), x(v[5+i]))
			g.VPADDQ(x(v[5+i]), x(v[4+i]), x(v[4+i]))
		}
		g.VSHUFPS(operand.Imm(0x88), x(v[6]), x(v[4]), x(v[4]))
		g.VPADDD(at(dst, 0), x(v[4]), x(v[4]))
		g.CMPQ(g.arg("pairs"), operand.Imm(0))
		g.JEQ(label("store" + again))
		g.VPSRAD(operand.Imm(7), x(v[4]), x(v[5]))
		g.VPSLLD(operand.Imm(16), x(v[5]), x(v[5]))
		g.VPSLLD(operand.Imm(25), x(v[4]), x(v[4]))
		g.VPSRLD(operand.Imm(25), x(v[4]), x(v[4]))
		g.VPOR(x(v[5]), x(v[4]), x(v[4]))
		g.Label("store" + again)
		g.VMOVDQU(x(v[4]), at(dst, 0))
		g.ADDQ(imm(16), dst)
		g.SUBQ(imm(4), rows)
		g.JNZ(label(again))
		g.ret()
	}
	three := g.GP64()
	g.LEAQ(operand.Mem{Base: ld, Index: ld, Scale: 2}, three)
	g.TESTQ(whole, whole)
	g.JNZ(label("rows"))
	g.Comment("rows of one step")
	g.Label("short")
	rowsAt := func(p reg.Register) []operand.Mem {
		return []operand.Mem{{Base: p}, {Base: p, Index: ld, Scale: 1}, {Base: p, Index: ld, Scale: 2},
			{Base: p, Index: three, Scale: 1}}
	}
	for i, m := range rowsAt(src) {
		g.VMOVDQU8_Z(m, reg.K2, v[i])
		g.VPSADBW(zeros, v[i], v[i])
	}
	g.MOVQ(g.arg("runs"), at0)
	g.MOVQ(src, p[0])
	g.SUBQ(operand.Imm(1), at0)
	g.JZ(label("summed"))
	g.Label("runs")
	g.ADDQ(g.arg("down"), p[0])
	for i, m := range rowsAt(p[0]) {
		g.VMOVDQU8_Z(m, reg.K2, v[4+i])
		g.VPSADBW(zeros, v[4+i], v[4+i])
		g.VPADDQ(v[4+i], v[i], v[i])
	}
	g.SUBQ(operand.Imm(1), at0)
	g.JNZ(label("runs"))
	g.Label("summed")
	g.LEAQ(operand.Mem{Base: src, Index: ld, Scale: 4}, src)
	finish("short")
	g.Label("rows")
	g.MOVQ(src, p[0])
	for i := 1; i < 4; i++ {
		g.MOVQ(p[i-1], p[i])
		g.ADDQ(ld, p[i])
	}
	g.MOVQ(p[3], src)
	g.ADDQ(ld, src)
	for i := range 4 {
		g.zero(v[i])
	}
	g.MOVQ(whole, at0)
	g.Label("codes")
	step(func(i int) { g.VMOVDQU8(at(p[i], 0), v[4+i]) })
	for i := range p {
		g.ADDQ(imm(64), p[i])
	}
	g.SUBQ(operand.Imm(1), at0)
	g.JNZ(label("codes"))
	step(func(i int) { g.VMOVDQU8_Z(at(p[i], 0), reg.K2, v[4+i]) })
	finish("rows")
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

// combine scales codes, and the sum of two. Vectors: 0-3 codes of a, then results; 4-7 codes of b; 8, 9 factors; 10 the
// summand; 11 the zero point; 12, 13 limits; 14 the order of packed words.
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

// encode quantizes as by a true division: the product with the reciprocal, corrected by its remainder, is the quotient
// (Markstein). A quotient that is not finite is divided. Packing saturates, and so gives the lower limit. Vectors: 0-3
// values; 4 the remainder; 5 a sum of zeros, NaN if a remainder is not finite; 6 zeros; 8 the scale; 9 its reciprocal;
// 10 the upper limit; 11 the zero point; 12 the order of packed words; 13 the mask of numbers.
func (g *gen) encode() {
	g.text("encode", "func(dst *uint8, src *float32, n int, scale, lo, hi float32, zero int)",
		"is dst = round(clamp(src/scale, lo, hi)) + zero on n values, a positive multiple of 64, NaN counting as 0;",
		"lo is -zero, and scale far from the limits of float32, its significand less than the largest.")
	v := g.vec
	dst, src, n := g.loadArg("dst"), g.loadArg("src"), g.loadArg("n")
	scale, factor, hi, zero, order, m := v[8], v[9], v[10], v[11], v[12], v[13]
	g.VBROADCASTSS(g.arg("scale"), scale)
	g.VMOVUPS(g.f(1), factor)
	g.VDIVPS(scale, factor, factor)
	g.VBROADCASTSS(g.arg("hi"), hi)
	g.everyWord("zero", zero)
	g.VMOVUPS(g.order(), order)
	g.zero(v[6])
	g.Label("loop")
	g.zero(v[5])
	for i := range 4 {
		x := v[i]
		g.VMOVUPS(at(src, i*g.bytes()), v[4])
		g.VMULPS(v[4], factor, x)
		g.VFNMADD231PS(scale, x, v[4])
		g.VFMADD231PS(factor, v[4], x)
		g.VFMADD231PS(v[6], v[4], v[5])
		g.VMINPS(hi, x, x)
	}
	found := g.GP32()
	if g.wide() {
		g.VCMPPS(operand.U8(predUnord), v[5], v[5], reg.K2)
		g.KMOVW(reg.K2, found)
	} else {
		g.VCMPPS(operand.U8(predUnord), v[5], v[5], m)
		g.VMOVMSKPS(m, found)
	}
	g.TESTL(found, found)
	g.JNZ(label("divide"))
	g.Label("pack")
	g.pack4(func(i int) reg.VecPhysical { return v[i] }, zero)
	g.VPERMD(v[0], order, v[0])
	g.VMOVUPS(v[0], at(dst, 0))
	g.ADDQ(imm(4*g.bytes()), src)
	g.ADDQ(imm(g.bytes()), dst)
	g.SUBQ(imm(g.bytes()), n)
	g.JG(label("loop"))
	g.ret()
	g.Comment("a value is not finite, or its quotient is not")
	g.Label("divide")
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
		g.VMINPS(hi, x, x)
	}
	g.JMP(label("pack"))
}
