package main

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// folds add up rows of float32 in float64, their absolute values or their squares, or multiply them.
func folds(g *gen) {
	g.text("sumAbs", "func(src *float32, n int) (ret float32)", "adds the magnitudes of n values as sum adds values.")
	src, n := g.loadArg("src"), g.loadArg("n")
	a, bits := g.accs(4), g.v()
	g.VMOVUPS(g.bcast(1<<31-1), bits)
	g.stream(n, 4, []reg.GPVirtual{src}, func(d int, masked bool) {
		i := d / g.bytes()
		x := g.get(at(src, d), masked)
		g.VANDPS(bits, x, x)
		g.VADDPS(x, a[i], a[i])
	})
	g.foldAll(g.VADDPS, a)
	g.ret()

	plain := func(x reg.VecVirtual) {}
	add := func(x, sum reg.VecVirtual) { g.VADDPD(x, sum, sum) }
	g.foldRows("Sum", "src", plain, add)
	g.foldRows("Abs", "the magnitude of src", func(x reg.VecVirtual) { g.VANDPD(g.magnitude(), x, x) }, add)
	g.foldRows("Squares", "the square of src", func(x reg.VecVirtual) { g.VMULPD(x, x, x) }, add)
	g.foldRows("Product", "", plain, func(x, sum reg.VecVirtual) { g.VMULPD(x, sum, sum) })
}

// magnitude is a vector of all bits of float64 but the signs.
func (g *gen) magnitude() operand.Mem {
	m, ok := g.consts["magnitude"]
	if !ok {
		m = g.StaticGlobal("magnitude")
		g.DataAttributes(attr.RODATA | attr.NOPTR)
		for i := range 8 {
			g.AddDatum(8*i, operand.U64(1<<63-1))
		}
		g.consts["magnitude"] = m
	}
	return m
}

// foldRows takes 32 columns at once, whose sums stay in registers, and then 8.
func (g *gen) foldRows(name, term string, change func(x reg.VecVirtual), op func(x, sum reg.VecVirtual)) {
	doc := "adds " + term + " to sums, row by row:"
	if term == "" {
		doc = "multiplies sums by src, row by row:"
	}
	g.text("fold"+name, "func(sums *float64, src *float32, ld, n, rows int)", doc,
		"n columns, a multiple of 8, and rows that are ld bytes apart.")
	sums, src, ld, n, rows := g.loadArg("sums"), g.loadArg("src"), g.loadArg("ld"), g.loadArg("n"), g.loadArg("rows")
	x, r := g.GP64(), g.GP64()
	half := g.bytes() / 2 // bytes of float32 that a vector of float64 is of
	part := func(pass string, cols int) {
		g.Label("next" + pass)
		g.CMPQ(n, imm(cols))
		g.JL(label("end" + pass))
		vectors := cols * 4 / half
		acc := make([]reg.VecVirtual, vectors)
		for i := range acc {
			acc[i] = g.v()
			g.VMOVUPD(at(sums, g.bytes()*i), acc[i])
		}
		g.MOVQ(src, x)
		g.MOVQ(rows, r)
		g.Label("rows" + pass)
		for i := range acc {
			v := g.v()
			g.VCVTPS2PD(at(x, half*i), v)
			change(v)
			op(v, acc[i])
		}
		g.ADDQ(ld, x)
		g.DECQ(r)
		g.JG(label("rows" + pass))
		for i := range acc {
			g.VMOVUPD(acc[i], at(sums, g.bytes()*i))
		}
		g.ADDQ(imm(4*cols), src)
		g.ADDQ(imm(8*cols), sums)
		g.SUBQ(imm(cols), n)
		g.JMP(label("next" + pass))
		g.Label("end" + pass)
	}
	part("Many", 32)
	part("Few", 8)
	g.ret()
}
