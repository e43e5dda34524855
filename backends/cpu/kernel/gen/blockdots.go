package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// blockDots are products of rows of numbers in digits of 8 bits with codes of 4 or 8 bits, of which each block has a
// scale. The wide level needs VNNI.
func blockDots(g *gen) {
	for _, bits := range []int{4, 8} {
		for _, digits := range []int{2, 3} {
			for _, rows := range []int{1, 4} {
				if g.wide() {
					g.blockDots(bits, digits, rows)
				} else {
					g.blockDotsNarrow(bits, digits, rows)
				}
			}
		}
	}
}

// dotEach is dot with four signed bytes in memory for every lane.
func (g *gen) dotEach(signed operand.Mem, unsigned, sum operand.Op) {
	ops := []operand.Op{signed, unsigned, sum}
	g.Instruction(&ir.Instruction{Opcode: "VPDPBUSD.BCST", Operands: ops, Inputs: ops, Outputs: ops[2:],
		ISA: []string{"AVX512_VNNI"}})
}

// blockDotsText begins a function.
func (g *gen) blockDotsText(bits, digits, rows int) {
	g.text(fmt.Sprintf("blockDots%dd%dx%d", bits, digits, rows),
		"func(dst *float32, ldd int, a *byte, lda int, w *byte, blocks, steps, cols int)",
		fmt.Sprintf("is [BlockDots.Multiply] of %d rows and up to 16 columns, of codes of %d bits and numbers of %d", rows,
			bits, digits),
		"digits; a block has steps of 32 codes, ldd and lda are in bytes.")
}

// blockDots multiplies rows with a panel of 16 columns. Vectors, all virtual: a result for each row; a sum for each row
// and digit of a block; the codes of four depths, or of twice four.
func (g *gen) blockDots(bits, digits, rows int) {
	g.blockDotsText(bits, digits, rows)
	w, blocks, steps := g.loadArg("w"), g.loadArg("blocks"), g.GP64()
	lda := g.loadArg("lda")
	a := make([]reg.GPVirtual, rows)
	results, sums := g.accs(rows), make([][]reg.VecVirtual, rows)
	for r := range rows {
		a[r] = g.GP64()
		if r == 0 {
			g.MOVQ(g.arg("a"), a[0])
		} else {
			g.LEAQ(idx(a[r-1], lda, 1, 0), a[r])
		}
		for range digits {
			sums[r] = append(sums[r], g.v())
		}
	}
	head := 4 + 4*digits
	g.Label("block")
	scale := g.mov(at(w, 0))
	g.ADDQ(imm(64), w)
	factors := make([]reg.VecVirtual, rows)
	for r := range rows {
		factors[r] = g.v()
		g.VMULPS_BCST(at(a[r], 0), scale, factors[r])
		for d := range digits {
			g.VPBROADCASTD(at(a[r], 4+4*d), sums[r][d])
		}
		g.ADDQ(imm(head), a[r])
	}
	g.MOVQ(g.arg("steps"), steps)
	g.Label("step")
	multiply := func(codes reg.VecVirtual, k int) {
		for d := range digits {
			for r := range rows {
				g.dotEach(at(a[r], 32*d+4*k), codes, sums[r][d])
			}
		}
	}
	for i := range bits { // 64 bytes each
		codes := g.v()
		g.VMOVDQU32(at(w, 64*i), codes)
		if bits == 8 {
			multiply(codes, i)
			continue
		}
		high := g.v()
		g.VPSRLW(operand.U8(4), codes, high)
		g.VPANDD(g.bcast(0x0f0f0f0f), codes, codes)
		g.VPANDD(g.bcast(0x0f0f0f0f), high, high)
		multiply(codes, 2*i)
		multiply(high, 2*i+1)
	}
	g.ADDQ(imm(64*bits), w)
	for r := range rows {
		g.ADDQ(imm(32*digits), a[r])
	}
	g.SUBQ(imm(1), steps)
	g.JNZ(label("step"))
	for r := range rows {
		low, high := sums[r][digits-1], sums[r][digits-2]
		g.VPSLLD(operand.U8(8), high, high)
		g.VPADDD(low, high, low)
		g.VCVTDQ2PS(low, low)
		if digits == 3 {
			g.VCVTDQ2PS(sums[r][0], sums[r][0])
			g.VFMADD231PS(g.f(1<<16), sums[r][0], low)
		}
		g.VFMADD231PS(factors[r], low, results[r])
	}
	g.SUBQ(imm(1), blocks)
	g.JNZ(label("block"))
	cols, dst, ldd := g.loadArg("cols"), g.loadArg("dst"), g.loadArg("ldd")
	g.tail(cols)
	for r := range rows {
		g.storeTail(results[r], at(dst, 0))
		if r < rows-1 {
			g.ADDQ(ldd, dst)
		}
	}
	g.ret()
}
