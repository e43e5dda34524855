package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/reg"
)

// halfRows multiply one or two rows of numbers with columns of binary16: 64 with AVX-512, 32 with AVX2, in four vectors
// a row.
func halfRows(g *gen) {
	const vectors = 4
	for _, rows := range []int{1, 2} {
		g.text(fmt.Sprintf("halfRows%d", rows), "func(dst *float32, ldd int, x *float32, ldx int, w *uint16, n int)",
			fmt.Sprintf("is [HalfMatrix.Multiply] of %d rows and %d columns, whose n rows are 64 numbers long; ldd and", rows,
				vectors*g.lanes), "ldx are in bytes.")
		dst, ldd, x, ldx := g.loadArg("dst"), g.loadArg("ldd"), g.loadArg("x"), g.loadArg("ldx")
		w, n := g.loadArg("w"), g.loadArg("n")
		sums := make([][]reg.VecVirtual, rows)
		for r := range rows {
			sums[r] = g.accs(vectors)
		}
		g.Label("row")
		var factors []reg.VecVirtual
		for r := range rows {
			f := g.v()
			if r == 0 {
				g.VBROADCASTSS(at(x, 0), f)
			} else {
				g.VBROADCASTSS(idx(x, ldx, 1, 0), f)
			}
			factors = append(factors, f)
		}
		for i := range vectors {
			wide := g.v()
			g.VCVTPH2PS(at(w, 2*g.lanes*i), wide)
			for r := range rows {
				g.VFMADD231PS(factors[r], wide, sums[r][i])
			}
		}
		g.ADDQ(imm(4), x)
		g.ADDQ(imm(128), w)
		g.SUBQ(imm(1), n)
		g.JNZ(label("row"))
		for r := range rows {
			for i, s := range sums[r] {
				g.VMOVUPS(s, at(dst, i*g.bytes()))
			}
			if r < rows-1 {
				g.ADDQ(ldd, dst)
			}
		}
		g.ret()
	}
}
