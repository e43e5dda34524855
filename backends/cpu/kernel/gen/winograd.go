package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/anynpu/anynpu/backends/cpu/kernel/gen/formula"
)

// vecN transforms a few vectors; the results are new registers.
type vecN func(d []reg.VecVirtual) []reg.VecVirtual

func (g *gen) add(a, b reg.Register) reg.VecVirtual { return g.bin(g.VADDPS, b, a) }
func (g *gen) sub(a, b reg.Register) reg.VecVirtual { return g.bin(g.VSUBPS, b, a) }

// fma is a*c + b, fnma is b - a*c, for a constant c.
func (g *gen) fma(a reg.Register, c float64, b reg.Register) reg.VecVirtual {
	r := g.mov(b)
	g.VFMADD231PS(g.f(c), a, r)
	return r
}

func (g *gen) fnma(a reg.Register, c float64, b reg.Register) reg.VecVirtual {
	r := g.mov(b)
	g.VFNMADD231PS(g.f(c), a, r)
	return r
}

// winoIn is B^T of F(4,3).
func (g *gen) winoIn(d []reg.VecVirtual) []reg.VecVirtual {
	const product, sum = formula.WinoPP * formula.WinoQQ, formula.WinoPP + formula.WinoQQ
	a, b := g.fnma(d[2], formula.WinoQQ, d[4]), g.fnma(d[1], formula.WinoQQ, d[3])
	e, f := g.fnma(d[2], formula.WinoPP, d[4]), g.fnma(d[1], formula.WinoPP, d[3])
	return []reg.VecVirtual{
		g.fma(d[0], product, g.fnma(d[2], sum, d[4])),
		g.fma(b, formula.WinoP, a), g.fnma(b, formula.WinoP, a),
		g.fma(f, formula.WinoQ, e), g.fnma(f, formula.WinoQ, e),
		g.fma(d[1], product, g.fnma(d[3], sum, d[5])),
	}
}

// winoOut is A^T of F(4,3).
func (g *gen) winoOut(m []reg.VecVirtual) []reg.VecVirtual {
	a, b := g.add(m[1], m[2]), g.sub(m[1], m[2])
	c, d := g.add(m[3], m[4]), g.sub(m[3], m[4])
	return []reg.VecVirtual{
		g.add(g.add(m[0], a), c),
		g.fma(d, formula.WinoQ, g.bin(g.VMULPS, g.f(formula.WinoP), b)),
		g.fma(c, formula.WinoQQ, g.bin(g.VMULPS, g.f(formula.WinoPP), a)),
		g.fma(d, formula.WinoQ*formula.WinoQQ, g.fma(b, formula.WinoP*formula.WinoPP, m[5])),
	}
}

// winoFilter is G of F(4,3).
func (g *gen) winoFilter(w []reg.VecVirtual) []reg.VecVirtual {
	e := g.fma(w[0], 1/formula.WinoNP, g.bin(g.VMULPS, g.f(formula.WinoPP/formula.WinoNP), w[2]))
	f := g.bin(g.VMULPS, g.f(formula.WinoP/formula.WinoNP), w[1])
	h := g.fma(w[0], 1/formula.WinoNQ, g.bin(g.VMULPS, g.f(formula.WinoQQ/formula.WinoNQ), w[2]))
	i := g.bin(g.VMULPS, g.f(formula.WinoQ/formula.WinoNQ), w[1])
	return []reg.VecVirtual{
		g.bin(g.VMULPS, g.f(1/(formula.WinoPP*formula.WinoQQ)), w[0]),
		g.add(e, f), g.sub(e, f),
		g.add(h, i), g.sub(h, i),
		g.mov(w[2]),
	}
}

// columns loads n rows of w columns through load, transforms each column and
// leaves the rows of the result in tmp, w vectors apart.
func (g *gen) columns(n, w int, tmp reg.GPVirtual, f vecN, load func(y, x int) reg.VecVirtual) {
	for x := range w {
		g.Commentf("column %d", x)
		d := make([]reg.VecVirtual, n)
		for y := range d {
			d[y] = load(y, x)
		}
		for y, v := range f(d) {
			g.VMOVUPS(v, at(tmp, (y*w+x)*g.bytes()))
		}
	}
}

func (g *gen) tmpRow(tmp reg.GPVirtual, y, w int) []reg.VecVirtual {
	g.Commentf("row %d", y)
	d := make([]reg.VecVirtual, w)
	for x := range d {
		d[x] = g.mov(at(tmp, (y*w+x)*g.bytes()))
	}
	return d
}

// walk returns what reads the elements of a tile column by column: cell points to the element, col to the first of its
// column; right and down are the bytes to the next ones.
func (g *gen) walk(col, cell, right, down reg.GPVirtual, masked bool) func(y, x int) reg.VecVirtual {
	return func(y, x int) reg.VecVirtual {
		if y == 0 {
			if x > 0 {
				g.ADDQ(right, col)
			}
			g.MOVQ(col, cell)
		} else {
			g.ADDQ(down, cell)
		}
		return g.get(at(cell, 0), masked)
	}
}

func winograd(g *gen) {
	winogradInput(g)
	winogradFilter(g)
	winogradOutput(g)
}

func winogradInput(g *gen) {
	g.text("winoInput", "func(c int, in *float32, irow, icol int, out *float32, of int, tmp *float32)",
		"transforms c channels of one 6x6 tile: out[f] = (B^T*d*B)[f], of bytes apart.", "tmp has 36 vectors.")
	c, in, out := g.loadArg("c"), g.loadArg("in"), g.loadArg("out")
	irow, icol, of, tmp := g.loadArg("irow"), g.loadArg("icol"), g.loadArg("of"), g.loadArg("tmp")
	p := g.GP64()
	g.channels(c, []operand.Op{in, out}, func(masked bool, _ string) {
		col := g.GP64()
		g.MOVQ(in, col)
		g.columns(6, 6, tmp, g.winoIn, g.walk(col, p, icol, irow, masked))
		g.MOVQ(out, p)
		for y := range 6 {
			for _, v := range g.winoIn(g.tmpRow(tmp, y, 6)) {
				g.storeMaybe(masked, v, at(p, 0))
				g.ADDQ(of, p)
			}
		}
	})
	g.ret()
}

func winogradFilter(g *gen) {
	g.text("winoFilter", "func(n int, w *float32, wtap int, u *float32, uf int, tmp *float32)",
		"transforms n filters of one input channel: u[f] = (G*w*G^T)[f].",
		"wtap and uf are the bytes between taps and between results; tmp has 18 vectors.")
	n, w, u := g.loadArg("n"), g.loadArg("w"), g.loadArg("u")
	wtap, uf := g.loadArg("wtap"), g.loadArg("uf")
	tmp := g.loadArg("tmp")
	q := g.GP64()
	wtap3 := g.GP64()
	g.LEAQ(idx(wtap, wtap, 2, 0), wtap3)
	g.channels(n, []operand.Op{w, u}, func(masked bool, _ string) {
		col := g.GP64()
		g.MOVQ(w, col)
		g.columns(3, 3, tmp, g.winoFilter, g.walk(col, q, wtap, wtap3, masked))
		g.MOVQ(u, q)
		for y := range 6 {
			for _, v := range g.winoFilter(g.tmpRow(tmp, y, 3)) {
				g.storeMaybe(masked, v, at(q, 0))
				g.ADDQ(uf, q)
			}
		}
	})
	g.ret()
}

func winogradOutput(g *gen) {
	g.text("winoOutput", "func(c int, in *float32, inf int, out *float32, orow, ocol int, bias, res *float32, rrow, "+
		"rcol int, lo, hi float32, after, ny, nx int, tmp *float32)",
		"transforms c channels of one tile: out = clamp(A^T*m*A + bias + res) for the first ny x nx of 4x4 positions.",
		"m is inf bytes apart, 36 of them; bias and res may be nil; after != 0 adds res after the clamp. tmp has 24 vectors.")
	c, in, out := g.loadArg("c"), g.loadArg("in"), g.loadArg("out")
	inf, ocol, rcol := g.loadArg("inf"), g.loadArg("ocol"), g.loadArg("rcol")
	tmp := g.loadArg("tmp")
	inf6 := g.GP64()
	g.IMUL3Q(operand.Imm(6), inf, inf6)
	res := g.loadArg("res")
	lo, hi := g.bcastArg("lo"), g.bcastArg("hi")
	g.channels(c, []operand.Op{in, out}, func(masked bool, s string) {
		col, p := g.GP64(), g.GP64()
		g.MOVQ(in, col)
		g.columns(6, 6, tmp, g.winoOut, g.walk(col, p, inf, inf6, masked))
		bias := g.v()
		g.zero(bias)
		b := g.loadArg("bias")
		g.TESTQ(b, b)
		g.JZ(label("nobias" + s))
		g.loadMaybe(masked, at(b, 0), bias)
		g.ADDQ(imm(g.bytes()), b)
		g.MOVQ(b, g.arg("bias"))
		g.Label("nobias" + s)
		o, r := g.GP64(), g.GP64()
		row, rrow := g.GP64(), g.GP64()
		g.MOVQ(out, row)
		g.MOVQ(res, rrow)
		for y := range 4 {
			if y > 0 {
				g.CMPQ(g.arg("ny"), operand.Imm(uint64(y)))
				g.JLE(label("end" + s))
			}
			g.MOVQ(row, o)
			g.MOVQ(rrow, r)
			for x, v := range g.winoOut(g.tmpRow(tmp, y, 6)) {
				if x > 0 {
					g.CMPQ(g.arg("nx"), operand.Imm(uint64(x)))
					g.JLE(label(fmt.Sprintf("next%d%s", y, s)))
				}
				id := fmt.Sprintf("%d%d%s", y, x, s)
				g.VADDPS(bias, v, v)
				addRes := func() { g.VADDPS(g.get(at(r, 0), masked), v, v) }
				g.TESTQ(r, r)
				g.JZ(label("clamp" + id))
				g.CMPQ(g.arg("after"), operand.Imm(0))
				g.JNE(label("clamp" + id))
				addRes()
				g.Label("clamp" + id)
				g.VMAXPS(v, lo, v)
				g.VMINPS(v, hi, v)
				g.TESTQ(r, r)
				g.JZ(label("store" + id))
				g.CMPQ(g.arg("after"), operand.Imm(0))
				g.JEQ(label("advance" + id))
				addRes()
				g.Label("advance" + id)
				g.ADDQ(rcol, r)
				g.Label("store" + id)
				g.storeMaybe(masked, v, at(o, 0))
				g.ADDQ(ocol, o)
			}
			g.Label(fmt.Sprintf("next%d%s", y, s))
			g.ADDQ(g.arg("orow"), row)
			t := g.loadArg("rrow")
			g.TESTQ(rrow, rrow)
			g.CMOVQEQ(rrow, t)
			g.ADDQ(t, rrow)
		}
		g.Label("end" + s)
		if !masked {
			step := g.GP64()
			g.MOVQ(imm(g.bytes()), step)
			g.TESTQ(res, res)
			g.CMOVQEQ(res, step)
			g.ADDQ(step, res)
		}
	})
	g.ret()
}
