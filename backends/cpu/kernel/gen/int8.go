package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// dot adds to each lane of sum the four products of a signed and an unsigned byte.
func (g *gen) dot(signed, unsigned, sum operand.Op) {
	ops := []operand.Op{signed, unsigned, sum}
	g.Instruction(&ir.Instruction{Opcode: "VPDPBUSD", Operands: ops, Inputs: ops, Outputs: ops[2:],
		ISA: []string{"AVX512_VNNI"}})
}

// dotPairs adds to each lane of sum the two products of its signed words with those of pair, which is in memory.
func (g *gen) dotPairs(pair operand.Mem, words, sum operand.Op) {
	ops := []operand.Op{pair, words, sum}
	g.Instruction(&ir.Instruction{Opcode: "VPDPWSSD.BCST", Operands: ops, Inputs: ops, Outputs: ops[2:],
		ISA: []string{"AVX512_VNNI"}})
}

// intTile is the shape of one microkernel of 8-bit products: mr rows by nv vectors of columns.
type intTile struct {
	mr, nv, phases int
	indirect       bool
}

// int8gemm emits the direct or the indirect products of codes whose tiles are nv vectors wide. The wide level needs
// VNNI; AVX2 has tiles of one and two vectors, of the merged form.
func int8gemm(g *gen, nv int, indirect bool) {
	if !g.wide() {
		for m := 1; m <= 4 && nv <= 2; m++ {
			g.mergedTile(intTile{mr: m, nv: nv, indirect: indirect})
		}
		return
	}
	for m := 1; m <= 8 && m*nv <= 24; m++ {
		t := intTile{mr: m, nv: nv, phases: 1, indirect: indirect}
		for m*nv*t.phases <= 4 {
			t.phases *= 2
		}
		g.intTile(t)
	}
}

// intText begins a microkernel. The rest of its doc comment is given.
func (g *gen) intText(t intTile, doc ...string) {
	name, cols := fmt.Sprintf("dot%dx%d", t.mr, t.nv*g.lanes), t.nv*g.lanes
	sig := "b *int8, ldb int, c *uint8, ldc int, init, factors, rows *int32, scale, add, low *float32, zero, lo, hi, " +
		"cols int)"
	doc = append([]string{
		fmt.Sprintf("computes blocks*%d rows by cols <= %d columns of requantized products of codes.", t.mr, cols)}, doc...)
	if t.indirect {
		g.text("i"+name, "func(blocks, taps, k int, tab *int32, ldt int, base, zeros *uint8, "+sig, append(doc,
			"Row i of A is taps runs: run t starts at base[tab[t][i]], or at zeros where tab[t][i] < 0.")...)
	} else {
		g.text(name, "func(blocks, k int, a *uint8, lda int, "+sig, doc...)
	}
}

// intTile emits a microkernel of AVX-512. Vectors: 0-23 sums [phase][row][vector]; 26-29 one word of B for each vector
// of columns; 30, 31 words of A; K1 the mask of the last vector, K2 of the stored bytes. The epilogue reuses what is
// behind the sums.
func (g *gen) intTile(t intTile) {
	g.intText(t, "k is in words of four codes; strides are in bytes. init, factors, add and low may be nil. Sums start "+
		"with",
		"init, and factors times the number of the row.",
		"Without scale the sums are stored themselves, as float32.")
	row := make([]reg.GPVirtual, t.mr)
	for i := range row {
		row[i] = g.GP64()
	}
	b, ix := g.GP64(), g.GP64()
	var taps operand.Mem
	if t.indirect {
		taps = g.AllocLocal(8)
		k := g.loadArg("k")
		g.SHLQ(operand.U8(2), k)
		g.ADDQ(k, g.arg("base"))
		g.ADDQ(k, g.arg("zeros"))
	}
	n, m := g.loadArg("cols"), g.GP64()
	g.MOVQ(operand.I32(-1), m)
	g.BZHIQ(n, m, m)
	g.KMOVQ(m, reg.K2)
	g.SUBQ(imm((t.nv-1)*g.lanes), n)
	g.tail(n)

	g.Comment("one block of rows")
	g.Label("block")
	for i := range t.mr * t.nv * t.phases {
		g.zero(g.vec[i])
	}
	g.MOVQ(g.arg("b"), b)
	if t.indirect {
		n, tab := g.loadArg("taps"), g.loadArg("tab")
		g.MOVQ(n, taps)
		g.tapRows(row, tab, "zeros", 1)
		g.runLength(ix)
		g.intLoop(t, row, b, ix)
		g.ADDQ(g.arg("ldt"), tab)
		g.SUBQ(operand.Imm(1), taps)
		g.JNZ(label("tap"))
		g.ADDQ(operand.Imm(uint64(4*t.mr)), g.arg("tab"))
	} else {
		lda := g.matrixRows(row, ix)
		g.intLoop(t, row, b, ix)
		g.IMUL3Q(operand.Imm(uint64(t.mr)), lda, lda)
		g.ADDQ(lda, g.arg("a"))
	}
	g.intStore(t)
	g.SUBQ(operand.Imm(1), g.arg("blocks"))
	g.JNZ(label("block"))
	g.ret()
}

// intLoop multiplies one run: ix counts from minus its words to zero, row holds the ends of the rows' runs, b moves on.
func (g *gen) intLoop(t intTile, row []reg.GPVirtual, b, ix reg.GPVirtual) {
	n := len(g.vec)
	step := func(u int) {
		bv := g.vec[n-2-t.nv : n-2]
		for j := range t.nv {
			g.VMOVDQU32(at(b, 64*(u*t.nv+j)), bv[j])
		}
		for i := range t.mr {
			s := g.vec[n-2+i%2]
			g.VPBROADCASTD(idx(row[i], ix, 4, 4*u), s)
			for j := range t.nv {
				g.dot(bv[j], s, g.vec[((u%t.phases)*t.mr+i)*t.nv+j])
			}
		}
	}
	advance := func(steps int) {
		g.ADDQ(imm(steps*t.nv*64), b)
		g.ADDQ(imm(steps), ix)
	}
	unroll := max(4, t.phases)
	g.CMPQ(ix, imm(-unroll))
	g.JGT(label("rest"))
	g.Label("loop")
	for u := range unroll {
		if t.mr*t.nv <= 8 { // bound by reading B
			for j := range t.nv {
				g.PREFETCHT0(at(b, 2048+64*(u*t.nv+j)))
			}
		}
		step(u)
	}
	advance(unroll)
	g.CMPQ(ix, imm(-unroll))
	g.JLE(label("loop"))
	g.Label("rest")
	g.TESTQ(ix, ix)
	g.JZ(label("done"))
	g.Label("single")
	step(0)
	advance(1)
	g.JNZ(label("single"))
	g.Label("done")
}

// optional emits body for an argument that is a pointer and not nil. A function that reads the argument more than once
// gives each place a suffix for its label.
func (g *gen) optional(name, suffix string, body func(p reg.GPVirtual)) {
	p := g.loadArg(name)
	g.TESTQ(p, p)
	g.JZ(label("no" + name + suffix))
	body(p)
	g.Label("no" + name + suffix)
}

// everyByte and everyWord repeat an argument all over a vector.
func (g *gen) everyByte(name string, v reg.VecPhysical) {
	if g.wide() {
		g.VPBROADCASTB(g.loadArg(name).As32(), v)
		return
	}
	g.VMOVD(g.loadArg(name).As32(), v.(reg.Vec).AsX())
	g.VPBROADCASTB(v.(reg.Vec).AsX(), v)
}

func (g *gen) everyWord(name string, v reg.VecPhysical) {
	if g.wide() {
		g.VPBROADCASTW(g.loadArg(name).As32(), v)
		return
	}
	g.VMOVD(g.loadArg(name).As32(), v.(reg.Vec).AsX())
	g.VPBROADCASTW(v.(reg.Vec).AsX(), v)
}

// quads is the permutation that gathers the words of four vectors after two rounds of packing.
func (g *gen) quads() operand.Mem {
	if m, ok := g.consts["quads"]; ok {
		return m
	}
	m := g.StaticGlobal("quads")
	g.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 16 {
		g.AddDatum(4*i, operand.U32(uint32(i%4*4+i/4)))
	}
	g.consts["quads"] = m
	return m
}

// intStore adds the phases, requantizes and stores one block; init, scale and add are read per vector, the last one
// under the mask. Vectors: 0-23 sums; 28 the order of packed words, or a result; 29 the upper limit, or the shift; 30
// the lower limit, the low part of the scale, or a factor; 31 the zero point, or a factor.
func (g *gen) intStore(t intTile) {
	n := len(g.vec)
	acc := func(i, j int) reg.VecPhysical { return g.vec[i*t.nv+j] }
	for p := t.phases / 2; p > 0; p /= 2 {
		for i := range p * t.mr * t.nv {
			g.VPADDD(g.vec[p*t.mr*t.nv+i], g.vec[i], g.vec[i])
		}
	}
	each := func(p reg.GPVirtual, do func(v, x reg.VecPhysical)) {
		for j := range t.nv {
			v := g.vec[n-1-j%2]
			g.loadMaybe(j == t.nv-1, at(p, 64*j), v)
			for i := range t.mr {
				do(v, acc(i, j))
			}
		}
	}
	g.optional("init", "", func(p reg.GPVirtual) { each(p, func(v, x reg.VecPhysical) { g.VPADDD(v, x, x) }) })
	g.optional("factors", "", func(p reg.GPVirtual) {
		rows := g.loadArg("rows")
		for j := range t.nv {
			v := g.vec[n-1-j%2]
			g.loadMaybe(j == t.nv-1, at(p, 64*j), v)
			for i := range t.mr {
				g.dotPairs(at(rows, 4*i), v, acc(i, j))
			}
		}
		g.ADDQ(imm(4*t.mr), rows)
		g.MOVQ(rows, g.arg("rows"))
	})
	scale := g.loadArg("scale")
	g.TESTQ(scale, scale)
	g.JZ(label("plain"))
	g.optional("low", "", func(low reg.GPVirtual) {
		add, v, part, shift, y := g.loadArg("add"), g.vec[n-1], g.vec[n-2], g.vec[n-3], g.vec[n-4]
		for j := range t.nv {
			last := j == t.nv-1
			g.loadMaybe(last, at(scale, 64*j), v)
			g.loadMaybe(last, at(low, 64*j), part)
			g.loadMaybe(last, at(add, 64*j), shift)
			for i := range t.mr {
				g.roundHalvesUp(acc(i, j), v, part, shift, y)
			}
		}
		g.JMP(label("rounded"))
	})
	each(scale, func(v, x reg.VecPhysical) {
		g.VCVTDQ2PS(x, x)
		g.VMULPS(v, x, x)
	})
	g.optional("add", "", func(p reg.GPVirtual) { each(p, func(v, x reg.VecPhysical) { g.VADDPS(v, x, x) }) })
	for i := range t.mr {
		for j := range t.nv {
			g.VCVTPS2DQ(acc(i, j), acc(i, j))
		}
	}
	g.Label("rounded")
	zero, lo, hi, order := g.vec[n-1], g.vec[n-2], g.vec[n-3], g.vec[n-4]
	g.everyWord("zero", zero)
	g.everyByte("lo", lo)
	g.everyByte("hi", hi)
	g.VMOVDQU32(g.quads(), order)
	c, ldc := g.loadArg("c"), g.loadArg("ldc")
	for i := range t.mr {
		g.packInts(t.nv, func(j int) reg.VecPhysical { return acc(i, j) }, zero)
		x := acc(i, 0)
		g.VPERMD(x, order, x)
		g.VPMAXUB(lo, x, x)
		g.VPMINUB(hi, x, x)
		g.VMOVDQU8(x, reg.K2, at(c, 0))
		g.ADDQ(ldc, c)
	}
	g.MOVQ(c, g.arg("c"))
	g.JMP(label("stored"))
	g.plainSums(t.mr, t.nv, acc)
}

// roundHalvesUp makes integers of sums: the floor of x*scale + shift + x*low, of which only the last addition is
// inexact, and is rounded down.
func (g *gen) roundHalvesUp(x reg.VecPhysical, scale, low, shift operand.Op, work reg.VecPhysical) {
	g.VCVTDQ2PS(x, x)
	g.VMOVUPS(shift, work)
	g.VFMADD231PS(scale, x, work)
	g.VFMADD231PS_RD_SAE(low, x, work)
	g.VCVTPS2DQ_RD_SAE(work, x)
}

// plainSums stores the sums themselves, as float32.
func (g *gen) plainSums(mr, nv int, acc func(i, j int) reg.VecPhysical) {
	g.Label("plain")
	for i := range mr {
		for j := range nv {
			g.VCVTDQ2PS(acc(i, j), acc(i, j))
		}
	}
	g.storeRows(mr, nv, acc)
	g.Label("stored")
}

// pack4 rounds four vectors of float32 and packs them as packInts does.
func (g *gen) pack4(v func(int) reg.VecPhysical, zero reg.Register) {
	for j := range 4 {
		g.VCVTPS2DQ(v(j), v(j))
	}
	g.packInts(4, v, zero)
}

// packInts adds the zero point to up to four vectors of integers and packs them into the bytes of the first: lane by
// lane, four from each.
func (g *gen) packInts(nv int, v func(int) reg.VecPhysical, zero operand.Op) {
	last := nv - 1
	g.VPACKSSDW(v(min(1, last)), v(0), v(0))
	g.VPADDSW(zero, v(0), v(0))
	half := 0
	if nv > 2 {
		half = 2
		g.VPACKSSDW(v(last), v(2), v(2))
		g.VPADDSW(zero, v(2), v(2))
	}
	g.VPACKUSWB(v(half), v(0), v(0))
}
