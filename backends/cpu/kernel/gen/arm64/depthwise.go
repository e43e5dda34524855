package main

import "fmt"

// biasInit starts the sums with the bias, or zero; the argument moves on.
func (g *gen) biasInit(acc []*reg, lanes int, suffix string) {
	g.v("movi.16b", acc[0], 0)
	b := g.arg("bias")
	g.ifZero(b, "nobias"+suffix)
	g.load(lanes, b, 0, acc[0])
	g.i("ADD $%i, %u, %d", 4*lanes, b, b)
	g.setArg("bias", b)
	g.label("nobias" + suffix)
	for _, a := range acc[1:] {
		g.v("mov.16b", a, acc[0])
	}
}

// clampStore clamps the sums and stores them argument ox apart.
func (g *gen) clampStore(acc []*reg, lanes int, lo, hi, out, ox *reg) {
	q := g.gp()
	g.i("MOVD %u, %d", out, q)
	for _, a := range acc {
		g.v("fmax.4s", a, a, lo)
	}
	for _, a := range acc {
		g.v("fmin.4s", a, a, hi)
		g.storeStep(lanes, a, q, ox)
	}
}

func depthwise(g *gen) {
	if g.isa != neon {
		return
	}
	for _, t := range []int{1, 4} {
		g.dwWindow(t)
	}
	for _, kw := range []int{3, 5, 7} {
		for _, stride := range []int{1, 2} {
			for _, t := range []int{1, 4, 8} {
				g.dwFast(kw, stride, t)
			}
		}
	}
	g.poolWindow("poolMax", true)
	g.poolWindow("poolSum", false)
}

// dwWindow: any window of rows x cols taps, t output pixels at once.
func (g *gen) dwWindow(t int) {
	g.function(fmt.Sprintf("dwWindow%d", t), "func(c, rows, cols int, in *float32, irow, icol, ix int, w *float32, wrow, "+
		"wcol int, bias, out *float32, ox int, lo, hi float32)",
		fmt.Sprintf("computes c channels of %d output pixels, out[p] = clamp(bias + sum of in[p][r][k]*w[r][k]).", t),
		"Strides are in bytes: irow, icol between taps, ix and ox between pixels. bias may be nil.")
	c, in, w, out := g.arg("c"), g.arg("in"), g.arg("w"), g.arg("out")
	irow, icol, ix, wrow, wcol, ox := g.arg("irow"), g.arg("icol"), g.arg("ix"), g.arg("wrow"), g.arg("wcol"), g.arg("ox")
	lo, hi := g.every("lo"), g.every("hi")
	acc := g.vecs(t)
	g.channels(c, []*reg{in, w, out}, func(lanes int, s string) {
		g.biasInit(acc, lanes, s)
		rows, ir, wr, cols, ip, wp, q := g.arg("rows"), g.gp(), g.gp(), g.gp(), g.gp(), g.gp(), g.gp()
		g.i("MOVD %u, %d", in, ir)
		g.i("MOVD %u, %d", w, wr)
		g.label("row" + s)
		g.argTo("cols", cols)
		g.i("MOVD %u, %d", ir, ip)
		g.i("MOVD %u, %d", wr, wp)
		g.label("col" + s)
		wv := g.loadStep(lanes, wp, wcol, g.vec())
		g.i("MOVD %u, %d", ip, q)
		for _, a := range acc {
			g.v("fmla.4s", a, g.loadStep(lanes, q, ix, g.vec()), wv)
		}
		g.i("ADD %u, %u, %d", icol, ip, ip)
		g.i("SUB $1, %u, %d", cols, cols)
		g.ifNot(cols, "col"+s)
		g.i("ADD %u, %u, %d", irow, ir, ir)
		g.i("ADD %u, %u, %d", wrow, wr, wr)
		g.i("SUB $1, %u, %d", rows, rows)
		g.ifNot(rows, "row"+s)
		g.clampStore(acc, lanes, lo, hi, out, ox)
	})
	g.end()
}

// dwFast: kw taps a row, fixed stride, t pixels at once; an input value is loaded once for all the taps that use it.
func (g *gen) dwFast(kw, stride, t int) {
	g.function(fmt.Sprintf("dw%ds%dx%d", kw, stride, t), "func(c, rows int, in *float32, irow, icol int, w *float32, "+
		"wrow, wcol int, bias, out *float32, ox int, lo, hi float32)",
		fmt.Sprintf("is dwWindow for %d pixels with %d taps a row, pixels %d taps apart.", t, kw, stride))
	c, in, w, out := g.arg("c"), g.arg("in"), g.arg("w"), g.arg("out")
	irow, icol, wrow, wcol, ox := g.arg("irow"), g.arg("icol"), g.arg("wrow"), g.arg("wcol"), g.arg("ox")
	lo, hi := g.every("lo"), g.every("hi")
	acc := g.vecs(t)
	g.channels(c, []*reg{in, w, out}, func(lanes int, s string) {
		g.biasInit(acc, lanes, s)
		rows, ir, wr, ip, wp := g.arg("rows"), g.gp(), g.gp(), g.gp(), g.gp()
		g.i("MOVD %u, %d", in, ir)
		g.i("MOVD %u, %d", w, wr)
		g.label("row" + s)
		g.i("MOVD %u, %d", wr, wp)
		g.i("MOVD %u, %d", ir, ip)
		taps := g.vecs(kw)
		for _, k := range taps {
			g.loadStep(lanes, wp, wcol, k)
		}
		const ahead = 3
		inputs := g.vecs((t-1)*stride + kw)
		for p := range len(inputs) + ahead {
			if p < len(inputs) {
				g.loadStep(lanes, ip, icol, inputs[p])
			}
			for i := range t {
				if k := p - ahead - i*stride; p >= ahead && k >= 0 && k < kw {
					g.v("fmla.4s", acc[i], inputs[p-ahead], taps[k])
				}
			}
		}
		g.i("ADD %u, %u, %d", irow, ir, ir)
		g.i("ADD %u, %u, %d", wrow, wr, wr)
		g.i("SUB $1, %u, %d", rows, rows)
		g.ifNot(rows, "row"+s)
		g.clampStore(acc, lanes, lo, hi, out, ox)
	})
	g.end()
}

// poolWindow: the largest value, or the sum times scale, of a window, for neighbouring pixels.
func (g *gen) poolWindow(name string, largest bool) {
	what := "window of rows x cols taps, times scale."
	kind := "the sum of a"
	if largest {
		kind, what = "the largest value of a", "window of rows x cols taps, NaN if there is one; scale is ignored."
	}
	g.function(name, "func(c, rows, cols, n int, in *float32, irow, icol, ix int, out *float32, ox int, scale float32)",
		"computes c channels of n >= 1 pixels, whose inputs are ix and whose outputs ox bytes apart: "+kind, what)
	c, in, out := g.arg("c"), g.arg("in"), g.arg("out")
	irow, icol, ix, ox, scale := g.arg("irow"), g.arg("icol"), g.arg("ix"), g.arg("ox"), g.every("scale")
	acc := g.vec()
	g.channels(c, []*reg{in, out}, func(lanes int, s string) {
		pixels, px, po, rows, cols, ir, ip := g.arg("n"), g.gp(), g.gp(), g.gp(), g.gp(), g.gp(), g.gp()
		g.i("MOVD %u, %d", in, px)
		g.i("MOVD %u, %d", out, po)
		g.label("pixel" + s)
		if largest {
			g.load(lanes, px, 0, acc)
		} else {
			g.v("movi.16b", acc, 0)
		}
		g.argTo("rows", rows)
		g.i("MOVD %u, %d", px, ir)
		g.label("row" + s)
		g.argTo("cols", cols)
		g.i("MOVD %u, %d", ir, ip)
		g.label("col" + s)
		x := g.loadStep(lanes, ip, icol, g.vec())
		if largest {
			g.v("fmax.4s", acc, acc, x)
		} else {
			g.v("fadd.4s", acc, acc, x)
		}
		g.i("SUB $1, %u, %d", cols, cols)
		g.ifNot(cols, "col"+s)
		g.i("ADD %u, %u, %d", irow, ir, ir)
		g.i("SUB $1, %u, %d", rows, rows)
		g.ifNot(rows, "row"+s)
		if !largest {
			g.v("fmul.4s", acc, acc, scale)
		}
		g.storeStep(lanes, acc, po, ox)
		g.i("ADD %u, %u, %d", ix, px, px)
		g.i("SUB $1, %u, %d", pixels, pixels)
		g.ifNot(pixels, "pixel"+s)
	})
	g.end()
}
