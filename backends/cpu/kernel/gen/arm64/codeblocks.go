package main

import "fmt"

// codeBlocks are products of a row of numbers and rows of codes of which each block has a scale.
func codeBlocks(g *gen) {
	if g.isa != neon {
		return
	}
	for _, bits := range []int{4, 8} {
		g.codeBlocks(bits)
	}
}

// codeBlocks multiplies 32 codes in a step. Bytes of two codes hold code i of a step in their low half and code 16+i in
// the high one.
func (g *gen) codeBlocks(bits int) {
	g.function(fmt.Sprintf("codeBlocks%d", bits), "func(dst, x *float32, w *uint8, ldw, steps, blocks, rows int)",
		fmt.Sprintf("is [BlockRows.Multiply] on rows of codes of %d bits; a block has steps of 32 codes, ldw is in", bits),
		"bytes.")
	dst, w, ldw, rows := g.arg("dst"), g.arg("w"), g.arg("ldw"), g.arg("rows")
	x, scale, codes, blocks, steps := g.gp(), g.gp(), g.gp(), g.gp(), g.gp()
	middle := g.v("movi.16b", g.vec(), 1<<(bits-1))
	low := g.v("movi.16b", g.vec(), 15)
	sum, parts := g.vec(), g.vecs(4)
	g.label("row")
	g.argTo("x", x)
	g.argTo("blocks", blocks)
	g.i("MOVD %u, %d", w, scale)
	g.i("ADD %u<<2, %u, %d", blocks, w, codes)
	g.v("movi.16b", sum, 0)
	g.label("block")
	for _, p := range parts {
		g.v("movi.16b", p, 0)
	}
	g.argTo("steps", steps)
	g.label("step")
	code := g.vec()
	g.i("FMOVQ.P 16(%b), %d", codes, code)
	if bits == 4 {
		high := g.op("ushr.4s", code, 4)
		g.multiplyCodes(g.op("and.16b", code, low), middle, x, parts)
		g.multiplyCodes(g.op("and.16b", high, low), middle, x, parts)
	} else {
		g.multiplyCodes(code, middle, x, parts)
		g.i("FMOVQ.P 16(%b), %d", codes, code)
		g.multiplyCodes(code, middle, x, parts)
	}
	g.i("SUB $1, %u, %d", steps, steps)
	g.ifNot(steps, "step")
	for n := 2; n > 0; n /= 2 {
		for i := range n {
			g.v("fadd.4s", parts[i], parts[i], parts[i+n])
		}
	}
	factor := g.vec()
	g.i("FMOVS.P 4(%b), %d", scale, factor)
	g.v("fmla.e", sum, parts[0], factor, 0)
	g.i("SUB $1, %u, %d", blocks, blocks)
	g.ifNot(blocks, "block")
	total := g.op("faddp.4s", sum, sum)
	g.v("faddp.2s", total, total)
	g.i("FMOVS.P %u, 4(%b)", total, dst)
	g.i("ADD %u, %u, %d", ldw, w, w)
	g.i("SUB $1, %u, %d", rows, rows)
	g.ifNot(rows, "row")
	g.end()
}

// multiplyCodes multiplies 16 codes by the next numbers of x.
func (g *gen) multiplyCodes(code, middle, x *reg, parts []*reg) {
	for _, half := range []string{"", "2"} {
		wide := g.op("usubl"+half+".8h", code, middle)
		numbers := g.vecs(2)
		g.i("FLDPQ.P 32(%b), (%d, %d)", x, numbers[0], numbers[1])
		for i, part := range []string{"", "2"} {
			f := g.op("sxtl"+part+".4s", wide)
			g.v("scvtf.4s", f, f)
			k := i
			if half != "" {
				k += 2
			}
			g.v("fmla.4s", parts[k], f, numbers[i])
		}
	}
}
