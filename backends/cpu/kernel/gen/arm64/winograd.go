package main

import (
	"fmt"

	"github.com/anynpu/anynpu/backends/cpu/kernel/gen/formula"
)

func (g *gen) fmaOf(a *reg, c float64, b *reg) *reg  { return g.fma(b, a, g.f(c)) }
func (g *gen) fnmaOf(a *reg, c float64, b *reg) *reg { return g.fnma(b, a, g.f(c)) }

// winoIn is B^T of F(4,3).
func (g *gen) winoIn(d []*reg) []*reg {
	const product, sum = formula.WinoPP * formula.WinoQQ, formula.WinoPP + formula.WinoQQ
	a, b := g.fnmaOf(d[2], formula.WinoQQ, d[4]), g.fnmaOf(d[1], formula.WinoQQ, d[3])
	e, f := g.fnmaOf(d[2], formula.WinoPP, d[4]), g.fnmaOf(d[1], formula.WinoPP, d[3])
	return []*reg{
		g.fmaOf(d[0], product, g.fnmaOf(d[2], sum, d[4])),
		g.fmaOf(b, formula.WinoP, a), g.fnmaOf(b, formula.WinoP, a),
		g.fmaOf(f, formula.WinoQ, e), g.fnmaOf(f, formula.WinoQ, e),
		g.fmaOf(d[1], product, g.fnmaOf(d[3], sum, d[5])),
	}
}

// winoOut is A^T of F(4,3).
func (g *gen) winoOut(m []*reg) []*reg {
	a, b := g.add(m[1], m[2]), g.sub(m[1], m[2])
	c, d := g.add(m[3], m[4]), g.sub(m[3], m[4])
	return []*reg{
		g.add(g.add(m[0], a), c),
		g.fmaOf(d, formula.WinoQ, g.mul(b, g.f(formula.WinoP))),
		g.fmaOf(c, formula.WinoQQ, g.mul(a, g.f(formula.WinoPP))),
		g.fmaOf(d, formula.WinoQ*formula.WinoQQ, g.fmaOf(b, formula.WinoP*formula.WinoPP, m[5])),
	}
}

// winoFilter is G of F(4,3).
func (g *gen) winoFilter(w []*reg) []*reg {
	e := g.fmaOf(w[0], 1/formula.WinoNP, g.mul(w[2], g.f(formula.WinoPP/formula.WinoNP)))
	f := g.mul(w[1], g.f(formula.WinoP/formula.WinoNP))
	h := g.fmaOf(w[0], 1/formula.WinoNQ, g.mul(w[2], g.f(formula.WinoQQ/formula.WinoNQ)))
	i := g.mul(w[1], g.f(formula.WinoQ/formula.WinoNQ))
	return []*reg{
		g.mul(w[0], g.f(1/(formula.WinoPP*formula.WinoQQ))),
		g.add(e, f), g.sub(e, f),
		g.add(h, i), g.sub(h, i),
		g.copy(w[2]),
	}
}

// columns loads n rows of w columns from p, transforms each column and leaves the rows of the result in tmp.
func (g *gen) columns(lanes, n, w int, p, right, down, tmp *reg, f func([]*reg) []*reg) {
	col, cell := g.gp(), g.gp()
	g.i("MOVD %u, %d", p, col)
	for x := range w {
		g.comment("column %d", x)
		if x > 0 {
			g.i("ADD %u, %u, %d", right, col, col)
		}
		g.i("MOVD %u, %d", col, cell)
		d := g.vecs(n)
		for _, v := range d {
			g.loadStep(lanes, cell, down, v)
		}
		for y, v := range f(d) {
			g.store(4, v, tmp, 16*(y*w+x))
		}
	}
}

func (g *gen) tmpRow(tmp *reg, y, w int) []*reg {
	g.comment("row %d", y)
	d := g.vecs(w)
	for x := 0; x+1 < w; x += 2 {
		g.i("FLDPQ %i(%u), (%d, %d)", 16*(y*w+x), tmp, d[x], d[x+1])
	}
	if w%2 != 0 {
		g.load(4, tmp, 16*(y*w+w-1), d[w-1])
	}
	return d
}

func winograd(g *gen) {
	if g.isa != neon {
		return
	}
	g.function("winoInput", "func(c int, in *float32, irow, icol int, out *float32, of int, tmp *float32)",
		"transforms c channels of one 6x6 tile: out[f] = (B^T*d*B)[f], of bytes apart.", "tmp has 36 vectors.")
	c, in, out := g.arg("c"), g.arg("in"), g.arg("out")
	irow, icol, of, tmp := g.arg("irow"), g.arg("icol"), g.arg("of"), g.arg("tmp")
	g.channels(c, []*reg{in, out}, func(lanes int, _ string) {
		g.columns(lanes, 6, 6, in, icol, irow, tmp, g.winoIn)
		p := g.gp()
		g.i("MOVD %u, %d", out, p)
		for y := range 6 {
			for _, v := range g.winoIn(g.tmpRow(tmp, y, 6)) {
				g.storeStep(lanes, v, p, of)
			}
		}
	})
	g.end()

	g.function("winoFilter", "func(n int, w *float32, wtap int, u *float32, uf int, tmp *float32)",
		"transforms n filters of one input channel: u[f] = (G*w*G^T)[f].",
		"wtap and uf are the bytes between taps and between results; tmp has 18 vectors.")
	n, w, u := g.arg("n"), g.arg("w"), g.arg("u")
	wtap, uf, tmp, wtap3 := g.arg("wtap"), g.arg("uf"), g.arg("tmp"), g.gp()
	g.i("ADD %u<<1, %u, %d", wtap, wtap, wtap3)
	g.channels(n, []*reg{w, u}, func(lanes int, _ string) {
		g.columns(lanes, 3, 3, w, wtap, wtap3, tmp, g.winoFilter)
		p := g.gp()
		g.i("MOVD %u, %d", u, p)
		for y := range 6 {
			for _, v := range g.winoFilter(g.tmpRow(tmp, y, 3)) {
				g.storeStep(lanes, v, p, uf)
			}
		}
	})
	g.end()
	winogradOutput(g)
}

func winogradOutput(g *gen) {
	g.function("winoOutput", "func(c int, in *float32, inf int, out *float32, orow, ocol int, bias, res *float32, rrow, "+
		"rcol int, lo, hi float32, after, ny, nx int, tmp *float32)",
		"transforms c channels of one tile: out = clamp(A^T*m*A + bias + res) for the first ny x nx of 4x4 positions.",
		"m is inf bytes apart, 36 of them; bias and res may be nil; after != 0 adds res after the clamp. tmp has 24 vectors.")
	c, in, out, res := g.arg("c"), g.arg("in"), g.arg("out"), g.arg("res")
	inf, orow, ocol, rrow, rcol := g.arg("inf"), g.arg("orow"), g.arg("ocol"), g.arg("rrow"), g.arg("rcol")
	after, ny, nx, tmp := g.arg("after"), g.arg("ny"), g.arg("nx"), g.arg("tmp")
	inf6 := g.gp()
	g.i("ADD %u<<1, %u, %d", inf, inf, inf6)
	g.i("LSL $1, %u, %d", inf6, inf6)
	lo, hi := g.every("lo"), g.every("hi")
	g.channels(c, []*reg{in, out}, func(lanes int, s string) {
		g.columns(lanes, 6, 6, in, inf, inf6, tmp, g.winoOut)
		bias := g.vec()
		g.biasInit([]*reg{bias}, lanes, s)
		row, from, o, r := g.gp(), g.gp(), g.gp(), g.gp()
		g.i("MOVD %u, %d", out, row)
		g.i("MOVD %u, %d", res, from)
		for y := range 4 {
			if y > 0 {
				g.i("CMP $%i, %u", y, ny)
				g.jump("LE", "end"+s)
			}
			values := g.winoOut(g.tmpRow(tmp, y, 6))
			for _, v := range values {
				g.v("fadd.4s", v, v, bias)
			}
			g.i("MOVD %u, %d", from, r)
			next := func(x int, label string) {
				if x > 0 {
					g.i("CMP $%i, %u", x, nx)
					g.jump("LE", label)
				}
			}
			residual := func(name string) {
				for x, v := range values {
					next(x, name+s)
					g.v("fadd.4s", v, v, g.loadStep(lanes, r, rcol, g.vec()))
				}
			}
			at := fmt.Sprint(y)
			g.ifZero(res, "clamp"+at+s)
			g.ifNot(after, "clamp"+at+s)
			residual("clamp" + at)
			g.label("clamp" + at + s)
			for _, v := range values {
				g.v("fmax.4s", v, v, lo)
				g.v("fmin.4s", v, v, hi)
			}
			g.ifZero(res, "store"+at+s)
			g.ifZero(after, "store"+at+s)
			residual("store" + at)
			g.label("store" + at + s)
			g.i("MOVD %u, %d", row, o)
			for x, v := range values {
				next(x, "next"+at+s)
				g.storeStep(lanes, v, o, ocol)
			}
			g.label("next" + at + s)
			g.i("ADD %u, %u, %d", orow, row, row)
			g.i("ADD %u, %u, %d", rrow, from, from)
		}
		g.label("end" + s)
		g.ifZero(res, "nores"+s)
		g.i("ADD $%i, %u, %d", 4*lanes, res, res)
		g.label("nores" + s)
	})
	g.end()
}
