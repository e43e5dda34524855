package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// codeBlocks are products of a row of numbers and rows of codes of which each block has a scale.
func codeBlocks(g *gen) {
	for _, bits := range []int{4, 8} {
		g.codeBlocks(bits)
	}
}

// codeBlocks multiplies 32 codes in a step. Bytes of two codes hold code i of a step in their low half and code 16+i in
// the high one.
func (g *gen) codeBlocks(bits int) {
	g.text(fmt.Sprintf("codeBlocks%d", bits), "func(dst, x *float32, w *uint8, ldw, steps, blocks, rows int)",
		fmt.Sprintf("is [BlockRows.Multiply] on rows of codes of %d bits; a block has steps of 32 codes, ldw is in", bits),
		"bytes.")
	dst, w, rows := g.loadArg("dst"), g.loadArg("w"), g.loadArg("rows")
	px, scale, codes, blocks, steps := g.GP64(), g.GP64(), g.GP64(), g.GP64(), g.GP64()
	lanes := g.bytes() / 4
	g.Label("row")
	g.MOVQ(g.arg("x"), px)
	g.MOVQ(g.arg("blocks"), blocks)
	g.MOVQ(w, scale)
	g.LEAQ(idx(w, blocks, 4, 0), codes)
	sum := g.accs(1)[0]
	g.Label("block")
	parts := g.accs(64 / g.bytes() * 2)
	g.MOVQ(g.arg("steps"), steps)
	g.Label("step")
	turn := 0
	multiply := func(code reg.VecVirtual, at operand.Mem) {
		g.VPSUBD(g.bcast(1<<(bits-1)), code, code)
		g.VCVTDQ2PS(code, code)
		g.VFMADD231PS(at, code, parts[turn%len(parts)])
		turn++
	}
	for i := 0; i < 4*bits/lanes; i++ {
		code := g.v()
		g.VPMOVZXBD(at(codes, i*lanes), code)
		if bits == 8 {
			multiply(code, at(px, i*g.bytes()))
			continue
		}
		high := g.v()
		g.VPSRLD(operand.U8(4), code, high)
		multiply(g.bin(g.and(), g.bcast(15), code), at(px, i*g.bytes()))
		multiply(high, at(px, 64+i*g.bytes()))
	}
	g.ADDQ(imm(4*bits), codes)
	g.ADDQ(imm(128), px)
	g.SUBQ(imm(1), steps)
	g.JNZ(label("step"))
	for n := len(parts) / 2; n > 0; n /= 2 {
		for i := range n {
			g.VADDPS(parts[i+n], parts[i], parts[i])
		}
	}
	factor := g.v()
	g.VBROADCASTSS(at(scale, 0), factor)
	g.VFMADD231PS(factor, parts[0], sum)
	g.ADDQ(imm(4), scale)
	g.SUBQ(imm(1), blocks)
	g.JNZ(label("block"))
	g.VMOVSS(g.folded(g.VADDPS, sum), at(dst, 0))
	g.ADDQ(imm(4), dst)
	g.ADDQ(g.arg("ldw"), w)
	g.SUBQ(imm(1), rows)
	g.JNZ(label("row"))
	g.ret()
}
