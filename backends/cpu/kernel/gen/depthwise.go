package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// channels walks c channels, a vector at a time; ptrs move on together. body is
// emitted twice, plain and masked; its labels take the suffix it is given.
func (g *gen) channels(c reg.GPVirtual, ptrs []operand.Op, body func(masked bool, suffix string)) {
	g.Comment("a vector of channels")
	g.Label("channels")
	g.CMPQ(c, imm(g.lanes))
	g.JLT(label("tail"))
	body(false, "")
	for _, p := range ptrs {
		g.ADDQ(imm(g.bytes()), p)
	}
	g.SUBQ(imm(g.lanes), c)
	g.JMP(label("channels"))
	g.Comment("the last channels, under the mask")
	g.Label("tail")
	g.TESTQ(c, c)
	g.JZ(label("done"))
	g.tail(c)
	body(true, "Tail")
	g.Label("done")
}

// clampStore clamps the accumulators and stores them ox bytes apart.
func (g *gen) clampStore(acc []reg.VecVirtual, masked bool, out reg.GPVirtual, ox operand.Op) {
	g.Comment("clamp and store")
	lo, hi := g.bcastArg("lo"), g.bcastArg("hi")
	q := out
	if len(acc) > 1 {
		q = g.GP64()
		g.MOVQ(out, q)
	}
	for i, a := range acc {
		g.VMAXPS(a, lo, a)
		g.VMINPS(a, hi, a)
		g.storeMaybe(masked, a, at(q, 0))
		if i < len(acc)-1 {
			g.ADDQ(ox, q)
		}
	}
}

// biasInit starts the accumulators with the bias, or zero.
func (g *gen) biasInit(n int, masked bool, suffix string) []reg.VecVirtual {
	g.Comment("sums start with the bias")
	acc := make([]reg.VecVirtual, n)
	for i := range acc {
		acc[i] = g.v()
	}
	g.zero(acc[0])
	b := g.loadArg("bias")
	g.TESTQ(b, b)
	g.JZ(label("nobias" + suffix))
	g.loadMaybe(masked, at(b, 0), acc[0])
	g.ADDQ(imm(g.bytes()), b)
	g.MOVQ(b, g.arg("bias"))
	g.Label("nobias" + suffix)
	for _, a := range acc[1:] {
		g.VMOVAPS(acc[0], a)
	}
	return acc
}

func depthwise(g *gen) {
	for _, t := range []int{1, 4} {
		g.dwWindow(t)
	}
	for _, kw := range []int{3, 5, 7} {
		for _, stride := range []int{1, 2} {
			for _, t := range []int{1, 4, 8} {
				if kw == 7 && t == 8 && !g.wide() {
					continue // 16 registers do not hold them
				}
				g.dwFast(kw, stride, t)
			}
		}
	}
	g.poolWindow("poolMax", true)
	g.poolWindow("poolSum", false)
}

// strided returns the address i strides after base, i being 0, 1, 2, 3, 4 or 8; thrice holds three strides.
func strided(base, stride, thrice reg.Register, i int) operand.Mem {
	switch i {
	case 0:
		return at(base, 0)
	case 3:
		return idx(base, thrice, 1, 0)
	}
	return idx(base, stride, uint8(i), 0)
}

// dwWindow: any window of rows x cols taps, t output pixels at once.
func (g *gen) dwWindow(t int) {
	g.text(fmt.Sprintf("dwWindow%d", t), "func(c, rows, cols int, in *float32, irow, icol, ix int, w *float32, wrow, "+
		"wcol int, bias, out *float32, ox int, lo, hi float32)",
		fmt.Sprintf("computes c channels of %d output pixels, out[p] = clamp(bias + sum of in[p][r][k]*w[r][k]).", t),
		"Strides are in bytes: irow, icol between taps, ix and ox between pixels. bias may be nil.")
	c, in, w, out := g.loadArg("c"), g.loadArg("in"), g.loadArg("w"), g.loadArg("out")
	icol, wcol, ix := g.loadArg("icol"), g.loadArg("wcol"), g.loadArg("ix")
	ix3 := g.GP64()
	g.LEAQ(idx(ix, ix, 2, 0), ix3)
	ir, wr, ip, wp, rows, cols := g.GP64(), g.GP64(), g.GP64(), g.GP64(), g.GP64(), g.GP64()
	pixel := func(i int) operand.Mem { return strided(ip, ix, ix3, i) }
	g.channels(c, []operand.Op{in, w, out}, func(masked bool, s string) {
		acc := g.biasInit(t, masked, s)
		g.MOVQ(g.arg("rows"), rows)
		g.MOVQ(in, ir)
		g.MOVQ(w, wr)
		g.Label("row" + s)
		g.MOVQ(g.arg("cols"), cols)
		g.MOVQ(ir, ip)
		g.MOVQ(wr, wp)
		g.Label("col" + s)
		wv := g.get(at(wp, 0), masked)
		for i, a := range acc {
			if masked {
				g.VFMADD231PS(g.get(pixel(i), true), wv, a)
			} else {
				g.VFMADD231PS(pixel(i), wv, a)
			}
		}
		g.ADDQ(icol, ip)
		g.ADDQ(wcol, wp)
		g.SUBQ(imm(1), cols)
		g.JNZ(label("col" + s))
		g.ADDQ(g.arg("irow"), ir)
		g.ADDQ(g.arg("wrow"), wr)
		g.SUBQ(imm(1), rows)
		g.JNZ(label("row" + s))
		g.clampStore(acc, masked, out, g.arg("ox"))
	})
	g.ret()
}

// dwFast: kw taps a row, fixed stride, t pixels at once; an input value is
// loaded once for all the taps that use it.
func (g *gen) dwFast(kw, stride, t int) {
	g.text(fmt.Sprintf("dw%ds%dx%d", kw, stride, t), "func(c, rows int, in *float32, irow, icol int, w *float32, wrow, "+
		"wcol int, bias, out *float32, ox int, lo, hi float32)",
		fmt.Sprintf("is dwWindow for %d pixels with %d taps a row, pixels %d taps apart.", t, kw, stride))
	c, in, w, out := g.loadArg("c"), g.loadArg("in"), g.loadArg("w"), g.loadArg("out")
	icol, wcol := g.loadArg("icol"), g.loadArg("wcol")
	icol3, wcol3 := g.GP64(), g.GP64()
	g.LEAQ(idx(icol, icol, 2, 0), icol3)
	g.LEAQ(idx(wcol, wcol, 2, 0), wcol3)
	ir, wr, ip, rows := g.GP64(), g.GP64(), g.GP64(), g.GP64()
	g.channels(c, []operand.Op{in, w, out}, func(masked bool, s string) {
		acc := g.biasInit(t, masked, s)
		g.MOVQ(g.arg("rows"), rows)
		g.MOVQ(in, ir)
		g.MOVQ(w, wr)
		g.Label("row" + s)
		g.Comment("the taps of this row, then each input once")
		taps := make([]reg.VecVirtual, kw)
		wp := wr
		for k := range taps {
			if k > 0 && k%4 == 0 && kw > 5 {
				wp = g.GP64()
				g.LEAQ(idx(wr, wcol, 4, 0), wp)
			}
			near := k
			if wp != wr {
				near -= 4
			}
			taps[k] = g.get(strided(wp, wcol, wcol3, near), masked)
		}
		g.MOVQ(ir, ip)
		for p := range (t-1)*stride + kw {
			if p > 0 && p%4 == 0 {
				g.LEAQ(idx(ip, icol, 4, 0), ip)
			}
			x := g.get(strided(ip, icol, icol3, p%4), masked)
			for i := range t {
				if k := p - i*stride; k >= 0 && k < kw {
					g.VFMADD231PS(taps[k], x, acc[i])
				}
			}
		}
		g.ADDQ(g.arg("irow"), ir)
		g.ADDQ(g.arg("wrow"), wr)
		g.SUBQ(imm(1), rows)
		g.JNZ(label("row" + s))
		g.clampStore(acc, masked, out, g.arg("ox"))
	})
	g.ret()
}

// poolWindow: the largest value, or the sum times scale, of a window, for neighbouring pixels.
func (g *gen) poolWindow(name string, largest bool) {
	what := "computes c channels of n >= 1 pixels, whose inputs are ix and whose outputs ox bytes apart: the sum of a " +
		"window of rows x cols taps, times scale."
	if largest {
		what = "computes c channels of n >= 1 pixels, whose inputs are ix and whose outputs ox bytes apart: the largest " +
			"value of a window, NaN if there is one; scale is ignored."
	}
	g.text(name, "func(c, rows, cols, n int, in *float32, irow, icol, ix int, out *float32, ox int, scale float32)", what)
	c, in, out := g.loadArg("c"), g.loadArg("in"), g.loadArg("out")
	irow, icol := g.loadArg("irow"), g.loadArg("icol")
	ir, ip, rows, cols := g.GP64(), g.GP64(), g.GP64(), g.GP64()
	pixels, px, po := g.GP64(), g.GP64(), g.GP64()
	g.channels(c, []operand.Op{in, out}, func(masked bool, s string) {
		g.MOVQ(g.arg("n"), pixels)
		g.MOVQ(in, px)
		g.MOVQ(out, po)
		g.Label("pixel" + s)
		acc, nan := g.v(), g.v()
		var nans reg.OpmaskVirtual
		switch {
		case !largest:
			g.zero(acc)
		case g.wide():
			g.loadMaybe(masked, at(px, 0), acc)
			nans = g.K()
			g.KXORW(nans, nans, nans)
		default:
			g.loadMaybe(masked, at(px, 0), acc)
			g.zero(nan)
		}
		g.MOVQ(g.arg("rows"), rows)
		g.MOVQ(px, ir)
		g.Label("row" + s)
		g.MOVQ(g.arg("cols"), cols)
		g.MOVQ(ir, ip)
		g.Label("col" + s)
		x := g.get(at(ip, 0), masked)
		switch {
		case !largest:
			g.VADDPS(x, acc, acc)
		case g.wide():
			k := g.K()
			g.VMAXPS(x, acc, acc)
			g.VCMPPS(operand.U8(predUnord), x, x, k)
			g.KORW(k, nans, nans)
		default:
			u := g.v()
			g.VMAXPS(x, acc, acc)
			g.VCMPPS(operand.U8(predUnord), x, x, u)
			g.VORPS(u, nan, nan)
		}
		g.ADDQ(icol, ip)
		g.SUBQ(imm(1), cols)
		g.JNZ(label("col" + s))
		g.ADDQ(irow, ir)
		g.SUBQ(imm(1), rows)
		g.JNZ(label("row" + s))
		switch {
		case !largest:
			g.VMULPS(g.bcastArg("scale"), acc, acc)
		case g.wide():
			g.VPTERNLOGD(operand.U8(0xff), nan, nan, nan)
			g.VMOVAPS(nan, nans, acc)
		default:
			g.VORPS(nan, acc, acc)
		}
		g.storeMaybe(masked, acc, at(po, 0))
		g.ADDQ(g.arg("ix"), px)
		g.ADDQ(g.arg("ox"), po)
		g.SUBQ(imm(1), pixels)
		g.JNZ(label("pixel" + s))
	})
	g.ret()
}
