package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// mergedTile emits a microkernel of AVX2 for the merged form, whose steps a list of words directs (packMerged).
// VPMADDUBSW adds two products to 16 bits, and saturates. Where the form says that it does not, even when the sums of
// two words are added, a step of two words takes three multiplications for each vector of sums, and one of a single
// word takes two. Other words are divided into even and odd codes of 16 bits.
//
// Vectors: 0-7 sums [row][vector]; 8-10 words of B, of which the fourth is read from memory; 11 ones; 12, 13 words of A
// and products; 14, 15 products. Wide steps: 8 the odd codes of a word of A, 9 the even ones; 10 a product; 11-14 the
// even and the odd codes of each eight columns of B.
func (g *gen) mergedTile(t intTile) {
	g.intText(t, "k is not read; strides are in bytes. b is a group's lists, and the words are ldb bytes on. init,",
		"factors, add and low may be nil. Sums start with init, and factors times the number of the row.",
		"Without scale the sums are stored themselves, as float32.")
	row := make([]reg.GPVirtual, t.mr)
	for i := range row {
		row[i] = g.GP64()
	}
	list, b := g.GP64(), g.GP64()
	g.Comment("one block of rows")
	g.Label("block")
	for i := range t.mr * t.nv {
		g.zero(g.vec[i])
	}
	g.MOVQ(g.arg("b"), list)
	g.MOVQ(list, b)
	g.ADDQ(g.arg("ldb"), b)
	if t.indirect {
		taps := g.AllocLocal(8)
		n, tab := g.loadArg("taps"), g.loadArg("tab")
		g.MOVQ(n, taps)
		g.tapRows(row, tab, "zeros", 1)
		g.mergedSteps(t, row, list, b)
		g.ADDQ(g.arg("ldt"), tab)
		g.SUBQ(operand.Imm(1), taps)
		g.JNZ(label("tap"))
		g.ADDQ(operand.Imm(uint64(4*t.mr)), g.arg("tab"))
	} else {
		lda := g.loadArg("lda")
		g.MOVQ(g.arg("a"), row[0])
		for i := 1; i < len(row); i++ {
			g.LEAQ(idx(row[i-1], lda, 1, 0), row[i])
		}
		g.mergedSteps(t, row, list, b)
		g.IMUL3Q(operand.Imm(uint64(t.mr)), lda, lda)
		g.ADDQ(lda, g.arg("a"))
	}
	g.intStoreNarrow(t)
	g.SUBQ(operand.Imm(1), g.arg("blocks"))
	g.JNZ(label("block"))
	g.ret()
}

// mergedSteps multiplies one run as its list says: how many steps there are of two words, of one and of a wide one, in
// words of 16 bits, the last of four being 0, and then the number of each word in the run. list and b move on.
func (g *gen) mergedSteps(t intTile, row []reg.GPVirtual, list, b reg.GPVirtual) {
	counts, first, second, n := g.GP64(), g.GP64(), g.GP64(), g.GP64()
	ones := g.vec[11]
	g.VPCMPEQW(ones, ones, ones)
	g.VPABSW(ones, ones)
	g.MOVQ(list, counts)
	g.ADDQ(imm(8), list)
	each := func(i int, name string, words int, step func()) {
		g.MOVWLZX(at(counts, 2*i), n.As32())
		g.TESTQ(n, n)
		g.JZ(label("no" + name))
		g.Label(name)
		g.MOVWLZX(at(list, 0), first.As32())
		if words == 2 {
			g.MOVWLZX(at(list, 2), second.As32())
		}
		step()
		g.ADDQ(imm(64*words), b)
		g.ADDQ(imm(2*words), list)
		g.SUBQ(imm(1), n)
		g.JNZ(label(name))
		g.Label("no" + name)
	}
	each(0, "two", 2, func() { g.mergedTwo(t, row, first, second, b) })
	each(1, "one", 1, func() { g.mergedOne(t, row, first, b) })
	each(2, "wide", 1, func() { g.mergedWide(t, row, first, b) })
}

// mergedTwo adds the products with two words.
func (g *gen) mergedTwo(t intTile, row []reg.GPVirtual, first, second, b reg.GPVirtual) {
	ones, a0, a1, s0, s1 := g.vec[11], g.vec[12], g.vec[13], g.vec[14], g.vec[15]
	words := [2][2]operand.Op{{g.vec[8], g.vec[9]}, {g.vec[10], at(b, 96)}} // [vector][word]
	for j := range t.nv {
		for w := range 2 {
			if v, ok := words[j][w].(reg.VecPhysical); ok {
				g.VMOVDQU(at(b, 64*w+32*j), v)
			}
		}
	}
	for i, r := range row {
		g.VPBROADCASTD(idx(r, first, 4, 0), a0)
		g.VPBROADCASTD(idx(r, second, 4, 0), a1)
		for j := range t.nv {
			x, y := s0, s1
			if j == t.nv-1 {
				x, y = a0, a1
			}
			g.VPMADDUBSW(words[j][0], a0, x)
			g.VPMADDUBSW(words[j][1], a1, y)
			g.VPADDW(y, x, x)
			g.VPMADDWD(ones, x, x)
			g.VPADDD(x, g.vec[i*t.nv+j], g.vec[i*t.nv+j])
		}
	}
}

// mergedOne adds the products with one word.
func (g *gen) mergedOne(t intTile, row []reg.GPVirtual, word, b reg.GPVirtual) {
	ones, a := g.vec[11], g.vec[12]
	for j := range t.nv {
		g.VMOVDQU(at(b, 32*j), g.vec[8+j])
	}
	for i, r := range row {
		g.VPBROADCASTD(idx(r, word, 4, 0), a)
		for j := range t.nv {
			x := g.vec[14]
			if j == t.nv-1 {
				x = a
			}
			g.VPMADDUBSW(g.vec[8+j], a, x)
			g.VPMADDWD(ones, x, x)
			g.VPADDD(x, g.vec[i*t.nv+j], g.vec[i*t.nv+j])
		}
	}
}

// mergedWide adds the products with a word whose sums may need more than 16 bits.
func (g *gen) mergedWide(t intTile, row []reg.GPVirtual, word, b reg.GPVirtual) {
	for j := range t.nv {
		even, odd := g.vec[11+2*j], g.vec[12+2*j]
		g.VMOVDQU(at(b, 32*j), odd)
		g.VPSLLW(operand.U8(8), odd, even)
		g.VPSRAW(operand.U8(8), even, even)
		g.VPSRAW(operand.U8(8), odd, odd)
	}
	odd, even := g.vec[8], g.vec[9]
	for i, r := range row {
		g.VPBROADCASTD(idx(r, word, 4, 0), odd)
		g.VPAND(g.bcast(0x00ff00ff), odd, even)
		g.VPSRLW(operand.U8(8), odd, odd)
		for j := range t.nv {
			for k, x := range []reg.VecPhysical{even, odd} {
				product := g.vec[10]
				if j == t.nv-1 {
					product = x
				}
				g.VPMADDWD(g.vec[11+2*j+k], x, product)
				g.VPADDD(product, g.vec[i*t.nv+j], g.vec[i*t.nv+j])
			}
		}
	}
}

// intStoreNarrow is intStore of AVX2. Vectors: 0-7 sums; 8 factors, scales and summands; 9 a number of each row, or the
// low part of the scale; 10 the shift; 11, 12 work; then 11 the zero point; 12, 13 limits; 14 the order of rows; 15 the
// mask.
func (g *gen) intStoreNarrow(t intTile) {
	n := g.loadArg("cols")
	g.SUBQ(imm((t.nv-1)*g.lanes), n)
	g.tail(n)
	acc := func(i, j int) reg.VecPhysical { return g.vec[i*t.nv+j] }
	v := g.vec[8]
	each := func(p reg.GPVirtual, do func(i int, x reg.VecPhysical)) {
		for j := range t.nv {
			g.loadMaybe(j == t.nv-1, at(p, 32*j), v)
			for i := range t.mr {
				do(i, acc(i, j))
			}
		}
	}
	g.optional("init", "", func(p reg.GPVirtual) { each(p, func(_ int, x reg.VecPhysical) { g.VPADDD(v, x, x) }) })
	g.optional("factors", "", func(p reg.GPVirtual) {
		rows, s := g.loadArg("rows"), g.vec[9]
		each(p, func(i int, x reg.VecPhysical) {
			g.VPBROADCASTD(at(rows, 4*i), s)
			g.VPMADDWD(v, s, s)
			g.VPADDD(s, x, x)
		})
		g.ADDQ(imm(4*t.mr), rows)
		g.MOVQ(rows, g.arg("rows"))
	})
	scale := g.loadArg("scale")
	g.TESTQ(scale, scale)
	g.JZ(label("plain"))
	g.optional("low", "", func(low reg.GPVirtual) {
		add, part, shift := g.loadArg("add"), g.vec[9], g.vec[10]
		for j := range t.nv {
			last := j == t.nv-1
			g.loadMaybe(last, at(scale, 32*j), v)
			g.loadMaybe(last, at(low, 32*j), part)
			g.loadMaybe(last, at(add, 32*j), shift)
			for i := range t.mr {
				g.roundDown(acc(i, j), v, part, shift, [2]reg.VecPhysical{g.vec[11], g.vec[12]})
			}
		}
		g.JMP(label("rounded"))
	})
	each(scale, func(_ int, x reg.VecPhysical) {
		g.VCVTDQ2PS(x, x)
		g.VMULPS(v, x, x)
	})
	g.optional("add", "", func(p reg.GPVirtual) { each(p, func(_ int, x reg.VecPhysical) { g.VADDPS(v, x, x) }) })
	for i := range t.mr * t.nv {
		g.VCVTPS2DQ(g.vec[i], g.vec[i])
	}
	g.Label("rounded")
	zero, lo, hi := g.vec[11], g.vec[12], g.vec[13]
	g.everyWord("zero", zero)
	g.everyByte("lo", lo)
	g.everyByte("hi", hi)
	order := g.vec[14]
	g.VMOVDQU(g.rowPairs(), order)
	c, ldc := g.loadArg("c"), g.loadArg("ldc")
	for i := 0; i < t.mr; i += 2 {
		last := min(i+1, t.mr-1)
		for row := i; row <= last; row++ {
			x := acc(row, 0)
			g.VPACKSSDW(acc(row, t.nv-1), x, x)
			g.VPADDSW(zero, x, x)
		}
		x := acc(i, 0)
		g.VPACKUSWB(acc(last, 0), x, x)
		g.VPERMD(x, order, x)
		g.VPMAXUB(lo, x, x)
		g.VPMINUB(hi, x, x)
		g.storeCodes(t, x, c, ldc, last-i+1, fmt.Sprint(i))
	}
	g.MOVQ(c, g.arg("c"))
	g.JMP(label("stored"))
	g.plainSums(t.mr, t.nv, acc)
}

// roundDown is roundHalvesUp of AVX2, which rounds the last addition to nearest. Its result is one too large if it is a
// whole number above the exact sum. Then the rest of the sum without it, of which just the last addition is inexact,
// is negative.
func (g *gen) roundDown(x reg.VecPhysical, scale, low, shift operand.Op, work [2]reg.VecPhysical) {
	rest, sum := work[0], work[1]
	g.VCVTDQ2PS(x, x)
	g.VMOVUPS(shift, rest)
	g.VFMADD231PS(scale, x, rest)
	g.VMOVAPS(rest, sum)
	g.VFMADD231PS(low, x, sum)
	g.VROUNDPS(operand.U8(9), sum, sum) // down
	g.VSUBPS(sum, rest, rest)
	g.VFMADD231PS(low, x, rest)
	g.VPSRAD(operand.U8(31), rest, rest)
	g.VPAND(g.f(1), rest, rest)
	g.VSUBPS(rest, sum, sum)
	g.VCVTTPS2DQ(sum, x)
}

// rowPairs is the permutation of double words that gathers the codes of two rows, each in a lane of its own.
func (g *gen) rowPairs() operand.Mem {
	if m, ok := g.consts["rowPairs"]; ok {
		return m
	}
	m := g.StaticGlobal("rowPairs")
	g.DataAttributes(attr.RODATA | attr.NOPTR)
	for i, v := range []uint32{0, 4, 1, 5, 2, 6, 3, 7} {
		g.AddDatum(4*i, operand.U32(v))
	}
	g.consts["rowPairs"] = m
	return m
}

// storeCodes stores one or two rows of the tile, each in a lane of x, at p, which moves on. The labels it needs end
// with suffix.
func (g *gen) storeCodes(t intTile, x reg.VecPhysical, p, ldc reg.GPVirtual, rows int, suffix string) {
	part, next := "part"+suffix, "stored"+suffix
	low := x.(reg.Vec).AsX()
	g.CMPQ(g.arg("cols"), imm(t.nv*g.lanes))
	g.JNE(label(part))
	for row := range rows {
		if row == 1 {
			g.VEXTRACTI128(operand.U8(1), x, low)
		}
		if t.nv == 2 {
			g.VMOVDQU(low, at(p, 0))
		} else {
			g.VMOVQ(low, at(p, 0))
		}
		g.ADDQ(ldc, p)
	}
	g.JMP(label(next))
	g.Label(part)
	for row := range rows {
		if row == 1 {
			g.VEXTRACTI128(operand.U8(1), x, low)
		}
		g.storeSomeCodes(t, low, p, fmt.Sprint(suffix, "row", row))
		g.ADDQ(ldc, p)
	}
	g.Label(next)
}

// storeSomeCodes stores less than a whole row of the tile at p: of two vectors the first eight codes at once, the
// others one by one.
func (g *gen) storeSomeCodes(t intTile, x reg.Register, p reg.GPVirtual, suffix string) {
	cols, bytes, to, next := g.loadArg("cols"), g.GP64(), g.GP64(), "byte"+suffix
	g.MOVQ(p, to)
	g.VMOVQ(x, bytes)
	if t.nv == 2 {
		g.MOVQ(bytes, at(p, 0))
		g.VPEXTRQ(operand.U8(1), x, bytes)
		g.ADDQ(imm(8), to)
		g.SUBQ(imm(8), cols)
	}
	g.Label(next)
	g.MOVB(bytes.As8(), at(to, 0))
	g.SHRQ(operand.U8(8), bytes)
	g.ADDQ(imm(1), to)
	g.SUBQ(imm(1), cols)
	g.JNZ(label(next))
}
