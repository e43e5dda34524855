package main

import (
	"fmt"
	"math"
)

// quotientStep counts the elements that a turn of the loops makes.
const quotientStep = 8

// quotients are divisions and remainders. Those of integers that round towards 0 are the processor's own; those of
// int32 that round down, and of float32, go by way of float64, whose quotients have the right whole part.
func quotients(g *gen) {
	if g.isa != neon {
		return
	}
	for _, bits := range []int{32, 64} {
		for _, name := range []string{"Div", "DivFloor", "Mod", "ModFloor"} {
			for _, repeats := range []bool{false, true} {
				floor := name == "DivFloor" || name == "ModFloor"
				if remains := name == "Mod" || name == "ModFloor"; floor && bits == 32 {
					g.quotientDown(name, remains, repeats)
				} else {
					g.quotientLong(name, bits, remains, floor, repeats)
				}
			}
		}
	}
	for _, repeats := range []bool{false, true} {
		g.remainder(repeats)
	}
}

// quotient begins a function of so many elements.
func (g *gen) quotient(name, kind string, repeats bool) (dst, a, b, n *reg) {
	shape := map[bool]string{false: "vv", true: "vs"}[repeats]
	g.function(shape+name+kind, "func(dst, a, b *byte, n int) (far uint64)",
		fmt.Sprintf("is %s of [Quotients] on n elements, a multiple of %d; far is not 0 where results are wrong.", name,
			quotientStep))
	return g.arg("dst"), g.arg("a"), g.arg("b"), g.arg("n")
}

// turn jumps back while there are elements.
func (g *gen) turn(n *reg) {
	g.i("SUBS $%i, %u, %d", quotientStep, n, n)
	g.jump("GT", "loop")
}

// nothingFar returns 0.
func (g *gen) nothingFar() {
	zero := g.gp()
	g.i("MOVD $0, %d", zero)
	g.setArg("far", zero)
	g.end()
}

// quotientLong divides in general registers. A quotient is rounded down by one less where there is a remainder whose
// sign is not that of the divisor.
func (g *gen) quotientLong(name string, bits int, remains, floor, repeats bool) {
	dst, a, b, n := g.quotient(name, fmt.Sprint("I", bits), repeats)
	w, load := "", "MOVD"
	if bits == 32 {
		w, load = "W", "MOVW"
	}
	pair := bits / 4 // bytes
	var s *reg
	if repeats {
		s = g.gp()
		g.i(load+" (%u), %d", b, s)
	}
	g.label("loop")
	for range quotientStep / 2 {
		x, y, r := g.gps(2), []*reg{s, s}, g.gps(2)
		g.i("LDP"+w+".P %i(%b), (%d, %d)", pair, a, x[0], x[1])
		if !repeats {
			y = g.gps(2)
			g.i("LDP"+w+".P %i(%b), (%d, %d)", pair, b, y[0], y[1])
		}
		for i := range r {
			q, left, signs := g.gp(), g.gp(), g.gp()
			g.i("SDIV"+w+" %u, %u, %d", y[i], x[i], q)
			if r[i] = q; name == "Div" {
				continue
			}
			g.i("MSUB"+w+" %u, %u, %u, %d", y[i], x[i], q, left)
			if r[i] = left; name == "Mod" {
				continue
			}
			g.i("EOR %u, %u, %d", left, y[i], signs)
			g.i("CMP $0, %u", left)
			g.i("CCMP NE, %u, $0, $0", signs)
			down := g.gp()
			if remains {
				g.i("ADD %u, %u, %d", y[i], left, down)
				g.i("CSEL LT, %u, %u, %d", down, left, left)
			} else {
				g.i("CSETM LT, %d", down)
				g.i("ADD %u, %u, %d", down, q, q)
				r[i] = q
			}
		}
		g.i("STP"+w+".P (%u, %u), %i(%b)", r[0], r[1], pair, dst)
	}
	g.turn(n)
	g.nothingFar()
}

// quotientDown divides int32, four at a time. A product with the reciprocal, corrected by its remainder, is the
// quotient by one number.
func (g *gen) quotientDown(name string, remains, repeats bool) {
	dst, a, b, n := g.quotient(name, "I32", repeats)
	var y, s, back *reg
	if repeats {
		y = g.everyAt(b, 4)
		s = g.op("scvtf.2d", g.op("sxtl.2d", y))
		back = g.op("fdiv.2d", g.constant(math.Float64bits(1)), s)
	}
	g.label("loop")
	for range quotientStep / 4 {
		x := g.next(a)()
		if !repeats {
			y = g.next(b)()
		}
		var whole [2]*reg
		for i, widen := range []string{"sxtl.2d", "sxtl2.2d"} {
			u := g.op("scvtf.2d", g.op(widen, x))
			var q *reg
			if repeats {
				q = g.op("fmul.2d", u, back)
				g.v("fmls.2d", u, q, s)
				g.v("fmla.2d", q, u, back)
			} else {
				q = g.op("fdiv.2d", u, g.op("scvtf.2d", g.op(widen, y)))
			}
			whole[i] = g.op("fcvtms.2d", q)
		}
		r := g.op("uzp1.4s", whole[0], whole[1])
		if remains {
			r = g.v("mls.4s", x, r, y)
		}
		g.i("FMOVQ.P %u, 16(%b)", r, dst)
	}
	g.turn(n)
	g.nothingFar()
}

// remainder emits the remainder of float32, with the sign of the dividend.
func (g *gen) remainder(repeats bool) {
	dst, a, b, n := g.quotient("Mod", "F32", repeats)
	right, limit, signs := g.v("movi.16b", g.vec(), 0xff), g.constant(math.Float64bits(1<<24)), g.bits(signBit)
	var s *reg
	if repeats {
		s = g.op("fcvtl.2d", g.everyAt(b, 4))
	}
	g.label("loop")
	for range quotientStep / 4 {
		x, y := g.next(a)(), (*reg)(nil)
		if !repeats {
			y = g.next(b)()
		}
		var left [2]*reg
		for i, widen := range []string{"fcvtl.2d", "fcvtl2.2d"} {
			u, v := g.op(widen, x), s
			if !repeats {
				v = g.op(widen, y)
			}
			q := g.op("fdiv.2d", u, v)
			g.v("and.16b", right, right, g.op("facgt.2d", limit, q))
			left[i] = g.v("fmls.2d", u, g.op("frintz.2d", q), v)
		}
		r := g.v("fcvtn2.4s", g.op("fcvtn.2s", left[0]), left[1])
		g.v("and.16b", right, right, g.op("fcmeq.4s", r, r)) // not of an infinite divisor
		g.i("FMOVQ.P %u, 16(%b)", g.v("bit.16b", r, x, signs), dst)
	}
	g.turn(n)
	far := g.gp()
	g.v("and.16b", right, right, g.op("dup.2d", right, 1))
	g.i("FMOVD %u, %d", right, far)
	g.i("MVN %u, %d", far, far)
	g.setArg("far", far)
	g.end()
}
