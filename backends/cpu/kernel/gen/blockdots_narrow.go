package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// blockDotsNarrow is blockDots of AVX2: eight columns at a time, of one row or two.
//
// VPMADDUBSW multiplies halves of bytes, which are 0 to 15, by digits. Sums of 16 bits hold the eight pairs of products
// of a step, 16 * 15 * 128. The instruction that widens them multiplies by the worth of a digit and of a half of a
// code. So one sum of 32 bits has everything but the first of three digits.
//
// Vectors, all virtual: a result for each row; the sums of 32 bits of a block; those of 16 bits of a step; two halves
// of codes; a digit and a product.
func (g *gen) blockDotsNarrow(bits, digits, rows int) {
	g.blockDotsText(bits, digits, rows)
	per := min(rows, 2)
	if bits == 8 && digits == 3 { // registers
		per = 1
	}
	groups, half := g.AllocLocal(8), g.AllocLocal(8)
	factors := g.AllocLocal(32 * per)
	n := g.GP64()
	g.MOVQ(imm(rows/per), n)
	g.MOVQ(n, groups)
	g.Label("rows")
	g.XORQ(n, n)
	g.MOVQ(n, half)
	g.Label("half")
	w, blocks, steps := g.loadArg("w"), g.loadArg("blocks"), g.GP64()
	g.ADDQ(half, w)
	a := make([]reg.GPVirtual, per)
	for r := range a {
		a[r] = g.loadArg("a")
		if r == 1 {
			g.ADDQ(g.arg("lda"), a[r])
		}
	}
	results := g.accs(per)
	g.Label("block")
	sums := g.blockStart(digits, w, a, factors)
	g.MOVQ(g.arg("steps"), steps)
	g.Label("step")
	g.blockStep(bits, digits, w, a, sums)
	g.ADDQ(imm(64*bits), w)
	for r := range a {
		g.ADDQ(imm(32*digits), a[r])
	}
	g.SUBQ(imm(1), steps)
	g.JNZ(label("step"))
	for r := range a {
		low := sums[r][0]
		g.VCVTDQ2PS(low, low)
		if digits == 3 {
			g.VCVTDQ2PS(sums[r][1], sums[r][1])
			g.VFMADD231PS(g.f(1<<16), sums[r][1], low)
		}
		g.VFMADD231PS(factors.Offset(32*r), low, results[r])
	}
	g.SUBQ(imm(1), blocks)
	g.JNZ(label("block"))

	g.Comment("store; the other eight columns, and then the next rows")
	cols, dst, lanes := g.loadArg("cols"), g.loadArg("dst"), g.GP64()
	before := g.GP64()
	g.MOVQ(half, before)
	g.ADDQ(before, dst)
	g.SHRQ(operand.U8(2), before)
	g.SUBQ(before, cols)
	g.MOVQ(imm(g.lanes), lanes)
	g.CMPQ(cols, lanes)
	g.CMOVQLT(cols, lanes)
	g.tail(lanes)
	for r := range a {
		g.storeTail(results[r], at(dst, 0))
		g.ADDQ(g.arg("ldd"), dst)
	}
	g.CMPQ(half, imm(0))
	g.JNE(label("both"))
	g.CMPQ(cols, imm(g.lanes))
	g.JLE(label("both"))
	next := g.GP64()
	g.MOVQ(imm(32), next)
	g.MOVQ(next, half)
	g.JMP(label("half"))
	g.Label("both")
	for _, m := range [][2]string{{"lda", "a"}, {"ldd", "dst"}} {
		stride := g.loadArg(m[0])
		g.IMUL3Q(operand.Imm(uint64(per)), stride, stride)
		g.ADDQ(stride, g.arg(m[1]))
	}
	g.SUBQ(imm(1), groups)
	g.JNZ(label("rows"))
	g.ret()
}

// blockStart begins a block: the sums of rows start with those of their heads, and factors gets their scales. w and a
// move on to the codes and digits.
func (g *gen) blockStart(digits int, w reg.GPVirtual, a []reg.GPVirtual, factors operand.Mem) [][]reg.VecVirtual {
	sums := make([][]reg.VecVirtual, len(a))
	for r := range a {
		factor := g.v()
		g.VBROADCASTSS(at(a[r], 0), factor)
		g.VMULPS(at(w, 0), factor, factor)
		g.VMOVUPS(factor, factors.Offset(32*r))
		low, next := g.v(), g.v()
		g.VPBROADCASTD(at(a[r], 4*digits-4), low)
		g.VPSLLD(operand.U8(8), low, low)
		g.VPBROADCASTD(at(a[r], 4*digits), next)
		g.VPADDD(next, low, low)
		sums[r] = []reg.VecVirtual{low}
		if digits == 3 {
			high := g.v()
			g.VPBROADCASTD(at(a[r], 4), high)
			sums[r] = append(sums[r], high)
		}
		g.ADDQ(imm(4+4*digits), a[r])
	}
	g.ADDQ(imm(64), w)
	return sums
}

// blockStep adds the products of 32 codes of eight columns.
func (g *gen) blockStep(bits, digits int, w reg.GPVirtual, a []reg.GPVirtual, sums [][]reg.VecVirtual) {
	type sum struct{ row, digit, half int }
	narrow := map[sum]reg.VecVirtual{}
	add := func(s sum, codes, digit, product reg.VecVirtual) {
		if narrow[s] == nil {
			narrow[s] = g.v()
			g.VPMADDUBSW(digit, codes, narrow[s])
			return
		}
		g.VPMADDUBSW(digit, codes, product)
		g.VPADDW(product, narrow[s], narrow[s])
	}
	for i := range bits {
		low, high := g.mov(at(w, 64*i)), g.v()
		g.VPSRLW(operand.U8(4), low, high)
		g.VPAND(g.bcast(0x0f0f0f0f), low, low)
		g.VPAND(g.bcast(0x0f0f0f0f), high, high)
		for r := range a {
			for d := range digits {
				digit := g.v()
				if bits == 8 {
					product := g.v()
					g.VPBROADCASTD(at(a[r], 32*d+4*i), digit)
					add(sum{r, d, 0}, low, digit, product)
					add(sum{r, d, 1}, high, digit, digit)
					continue
				}
				for k, codes := range []reg.VecVirtual{low, high} {
					g.VPBROADCASTD(at(a[r], 32*d+8*i+4*k), digit)
					add(sum{r, d, 0}, codes, digit, digit)
				}
			}
		}
	}
	for r := range a {
		for d := range digits {
			for half := range bits / 4 {
				x, worth, to := narrow[sum{r, d, half}], uint32(1)<<(4*half), sums[r][0]
				switch d {
				case digits - 2:
					worth <<= 8
				case digits - 3:
					to = sums[r][1]
				}
				g.VPMADDWD(g.bcast(worth<<16|worth), x, x)
				g.VPADDD(x, to, to)
			}
		}
	}
}
