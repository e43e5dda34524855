package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// moves copy bytes, merge rows of elements, and transpose blocks.
func moves(g *gen) {
	if g.wide() {
		return
	}
	g.text("copyBytes", "func(dst, src *byte, n int)",
		"copies n bytes by the processor's own loop, which reads no line of "+
			"dst before it is written.")
	g.Load(g.Param("dst"), reg.RDI)
	g.Load(g.Param("src"), reg.RSI)
	g.Load(g.Param("n"), reg.RCX)
	g.Instruction(&ir.Instruction{Opcode: "REP"})
	g.Instruction(&ir.Instruction{Opcode: "MOVSB"})
	g.RET()
	for i, by := range [][2]vop{{g.VPUNPCKLBW, g.VPUNPCKHBW}, {g.VPUNPCKLWD, g.VPUNPCKHWD}, {g.VPUNPCKLDQ, g.VPUNPCKHDQ},
		{g.VPUNPCKLQDQ, g.VPUNPCKHQDQ}} {
		g.merge(1<<i, by)
	}
	for i, widen := range []vop{g.VPMOVZXBW, g.VPMOVZXWD, g.VPMOVZXDQ} {
		g.enlarge(1<<i, widen)
	}
	g.copyRows()
	g.transposeBytes()
	g.transposeHalves()
	g.transposeLong()
}

// merge makes one row of two, of which elements take turns.
func (g *gen) merge(size int, by [2]vop) {
	g.text(fmt.Sprintf("merge%d", size), "func(dst, a, b *byte, n int)",
		fmt.Sprintf("lets elements of %d bytes of a and b take turns, n bytes of each, a multiple of %d.", size, pairStep))
	dst, a, b, n := g.loadArg("dst"), g.loadArg("a"), g.loadArg("b"), g.loadArg("n")
	g.steps(n, 32, []reg.GPVirtual{dst, a, b}, []int{64, 32, 32}, func() {
		x, y, lo, hi, r := g.v(), g.v(), g.v(), g.v(), g.v()
		g.VMOVDQU(at(a, 0), x)
		g.VMOVDQU(at(b, 0), y)
		by[0](y, x, lo)
		by[1](y, x, hi)
		g.VPERM2I128(operand.U8(0x20), hi, lo, r)
		g.VMOVDQU(r, at(dst, 0))
		g.VPERM2I128(operand.U8(0x31), hi, lo, r)
		g.VMOVDQU(r, at(dst, 32))
	})
}

// blocks is a transposition by blocks of rows and cols elements of size bytes. load gets where a block begins and the
// distance of its rows, and its vectors are stored by store, at the block's place and the distance of columns.
func (g *gen) blocks(name string, rows, cols, size int, load func(src, lds reg.GPVirtual) []reg.VecVirtual,
	store func(v []reg.VecVirtual, dst, ldd reg.GPVirtual)) {
	g.text(name, "func(dst *byte, ldd int, src *byte, lds, rows, cols int)",
		fmt.Sprintf("is the transpose of src [rows, cols], multiples of %d and %d, of elements of %d bytes; strides in bytes.",
			rows, cols, size))
	dst, ldd, src, lds := g.loadArg("dst"), g.loadArg("ldd"), g.loadArg("src"), g.loadArg("lds")
	n, s, d, left := g.loadArg("cols"), g.GP64(), g.GP64(), g.GP64()
	step := g.GP64() // from one block of columns to the next
	g.MOVQ(ldd, step)
	for k := 1; k < cols; k *= 2 {
		g.ADDQ(step, step)
	}
	g.Label("cols")
	g.MOVQ(src, s)
	g.MOVQ(dst, d)
	g.MOVQ(g.arg("rows"), left)
	g.Label("rows")
	p := g.GP64()
	g.MOVQ(s, p)
	v := load(p, lds)
	g.MOVQ(p, s) // the row after the block
	store(v, d, ldd)
	g.ADDQ(imm(rows*size), d)
	g.SUBQ(imm(rows), left)
	g.JG(label("rows"))
	g.ADDQ(imm(cols*size), src)
	g.ADDQ(step, dst)
	g.SUBQ(imm(cols), n)
	g.JG(label("cols"))
	g.ret()
}

// unpacked merges neighbouring vectors in the distance step by a pair of instructions: the lower halves take the place
// of the first, the upper ones that of the second.
func (g *gen) unpacked(v []reg.VecVirtual, step int, by [2]vop) {
	for i := range v {
		if i&step != 0 {
			continue
		}
		lo, hi := g.v(), g.v()
		by[0](v[i+step], v[i], lo)
		by[1](v[i+step], v[i], hi)
		v[i], v[i+step] = lo, hi
	}
}

// transposeBytes has rows r and r+8 of a block of 16 in the halves of a vector. After three steps each half holds two
// columns of 8 rows.
func (g *gen) transposeBytes() {
	g.blocks("transpose1", 16, 16, 1, func(src, lds reg.GPVirtual) []reg.VecVirtual {
		var v []reg.VecVirtual
		q := g.GP64()
		g.LEAQ(idx(src, lds, 8, 0), q)
		for range 8 {
			x := g.v()
			g.VBROADCASTI128(at(src, 0), x) // avo takes a write of half a register for none
			g.VINSERTI128(operand.U8(1), at(q, 0), x, x)
			g.ADDQ(lds, src)
			g.ADDQ(lds, q)
			v = append(v, x)
		}
		g.MOVQ(q, src)
		g.unpacked(v, 1, [2]vop{g.VPUNPCKLBW, g.VPUNPCKHBW})
		g.unpacked(v, 2, [2]vop{g.VPUNPCKLWD, g.VPUNPCKHWD})
		g.unpacked(v, 4, [2]vop{g.VPUNPCKLDQ, g.VPUNPCKHDQ})
		return v
	}, func(v []reg.VecVirtual, dst, ldd reg.GPVirtual) {
		p := g.GP64()
		g.MOVQ(dst, p)
		for k := range 8 { // bit 0 of a place is the last that was merged, bit 2 the first
			x := v[k&1<<2|k&2|k>>2]
			g.VPERMQ(operand.U8(0xd8), x, x)
			g.VMOVDQU(x.AsX(), at(p, 0))
			g.ADDQ(ldd, p)
			g.VEXTRACTI128(operand.U8(1), x, at(p, 0))
			g.ADDQ(ldd, p)
		}
	})
}

// transposeHalves has columns c and c+8 in the halves of a vector.
func (g *gen) transposeHalves() {
	g.blocks("transpose2", 8, 16, 2, func(src, lds reg.GPVirtual) []reg.VecVirtual {
		var v []reg.VecVirtual
		for range 8 {
			x := g.v()
			g.VMOVDQU(at(src, 0), x)
			g.ADDQ(lds, src)
			v = append(v, x)
		}
		g.unpacked(v, 1, [2]vop{g.VPUNPCKLWD, g.VPUNPCKHWD})
		g.unpacked(v, 2, [2]vop{g.VPUNPCKLDQ, g.VPUNPCKHDQ})
		g.unpacked(v, 4, [2]vop{g.VPUNPCKLQDQ, g.VPUNPCKHQDQ})
		return v
	}, func(v []reg.VecVirtual, dst, ldd reg.GPVirtual) {
		p, q := g.GP64(), g.GP64()
		g.MOVQ(dst, p)
		g.LEAQ(idx(dst, ldd, 8, 0), q)
		for k := range 8 {
			x := v[k&1<<2|k&2|k>>2]
			g.VMOVDQU(x.AsX(), at(p, 0))
			g.VEXTRACTI128(operand.U8(1), x, at(q, 0))
			g.ADDQ(ldd, p)
			g.ADDQ(ldd, q)
		}
	})
}

func (g *gen) transposeLong() {
	g.blocks("transpose8bytes", 4, 4, 8, func(src, lds reg.GPVirtual) []reg.VecVirtual {
		var v []reg.VecVirtual
		for range 4 {
			x := g.v()
			g.VMOVDQU(at(src, 0), x)
			g.ADDQ(lds, src)
			v = append(v, x)
		}
		g.unpacked(v, 1, [2]vop{g.VPUNPCKLQDQ, g.VPUNPCKHQDQ})
		return v
	}, func(v []reg.VecVirtual, dst, ldd reg.GPVirtual) {
		p := g.GP64()
		g.MOVQ(dst, p)
		for k := range 4 {
			x := g.v()
			g.VPERM2I128(operand.U8(0x20+0x11*(k/2)), v[k%2+2], v[k%2], x)
			g.VMOVDQU(x, at(p, 0))
			g.ADDQ(ldd, p)
		}
	})
}

// enlarge makes two rows of each, in which each element is twice. The rest of a row is made with the elements before it
// once more.
func (g *gen) enlarge(size int, widen vop) {
	g.text(fmt.Sprintf("enlarge%d", size), "func(dst, src *byte, n, rows int)",
		fmt.Sprintf("is [Enlarge] on rows of n >= 16 bytes of elements of %d bytes.", size))
	dst, src, rows := g.loadArg("dst"), g.loadArg("src"), g.loadArg("rows")
	n, last, k, below := g.GP64(), g.GP64(), g.GP64(), g.GP64()
	g.MOVQ(g.arg("n"), n)
	g.LEAQ(at(n, -16), last)
	part := func() {
		x, y := g.v(), g.v()
		widen(idx(src, k, 1, 0), x)
		shift := operand.U8(8 * size)
		switch size {
		case 1:
			g.VPSLLW(shift, x, y)
		case 2:
			g.VPSLLD(shift, x, y)
		default:
			g.VPSLLQ(shift, x, y)
		}
		g.VPOR(x, y, y)
		g.VMOVDQU(y, idx(dst, k, 2, 0))
		g.VMOVDQU(y, idx(below, k, 2, 0))
	}
	g.Label("rows")
	g.LEAQ(idx(dst, n, 2, 0), below)
	g.XORQ(k, k)
	g.Label("parts")
	part()
	g.ADDQ(imm(16), k)
	g.CMPQ(k, last)
	g.JLE(label("parts"))
	g.MOVQ(last, k)
	part()
	g.ADDQ(n, src)
	g.LEAQ(idx(below, n, 2, 0), dst)
	g.SUBQ(imm(1), rows)
	g.JG(label("rows"))
	g.ret()
}

// copyRows copies rows of 32 bytes and more. The rest of a row is copied with the bytes before it once more.
func (g *gen) copyRows() {
	g.text("copyRows", "func(dst *byte, ldd int, src *byte, lds, n, rows int)",
		"copies rows of n >= 32 bytes; strides in bytes.")
	dst, ldd, src, lds, rows := g.loadArg("dst"), g.loadArg("ldd"), g.loadArg("src"), g.loadArg("lds"), g.loadArg("rows")
	last, k := g.GP64(), g.GP64()
	g.MOVQ(g.arg("n"), last)
	g.SUBQ(imm(32), last)
	x := g.v()
	g.Label("rows")
	g.XORQ(k, k)
	g.CMPQ(last, imm(0))
	g.JEQ(label("rest"))
	g.Label("parts")
	g.VMOVDQU(idx(src, k, 1, 0), x)
	g.VMOVDQU(x, idx(dst, k, 1, 0))
	g.ADDQ(imm(32), k)
	g.CMPQ(k, last)
	g.JLT(label("parts"))
	g.Label("rest")
	g.VMOVDQU(idx(src, last, 1, 0), x)
	g.VMOVDQU(x, idx(dst, last, 1, 0))
	g.ADDQ(lds, src)
	g.ADDQ(ldd, dst)
	g.SUBQ(imm(1), rows)
	g.JG(label("rows"))
	g.ret()
}
