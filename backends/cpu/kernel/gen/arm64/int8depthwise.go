package main

import "fmt"

// unitChannels is the number of channels that depthwise kernels of codes compute side by side, in sequence.
const unitChannels = 16

// int8depthwise emits depthwise convolutions of codes. With products of four, the bytes of four taps are interleaved,
// so that each word holds one channel; else codes and weights are words of 16 bits, and their products are added one
// by one.
func int8depthwise(g *gen) {
	g.dotWindow()
	g.dotSlide()
}

// unit is the common state of both kernels while they walk over units of channels.
type unit struct {
	first, channels, init, scale, add, low, w, flip *reg
	start                                           int // four vectors: what sums begin with
	code                                            int // three vectors: the zero point and the limits
}

// beginUnits starts the walk; its body follows the label "unit".
func (g *gen) beginUnits() *unit {
	u := &unit{first: g.gp(), channels: g.arg("channels"), init: g.arg("init"), scale: g.arg("scale"), add: g.arg("add"),
		low: g.arg("low"), w: g.arg("w"), flip: g.vec(), start: g.local(64), code: g.local(48)}
	g.i("MOVD $0, %d", u.first)
	c := g.vecs(3)
	g.codeArgs(c[0], c[1], c[2])
	for i, x := range c {
		g.i("FMOVQ %u, %i(RSP)", x, u.code+16*i)
	}
	g.v("movi.16b", u.flip, 128)
	g.comment("one unit of channels")
	g.label("unit")
	return u
}

// starts sets what the sums of a unit begin with: init and, where 128 is taken from the codes, 128 times the sums of
// weights, which are taps/4 groups of four vectors.
func (g *gen) starts(u *unit, groups *reg) {
	s := g.vecs(4)
	for _, x := range s {
		g.v("movi.16b", x, 0)
	}
	if g.dot && !g.mixed {
		n, w := g.gp(), g.gp()
		g.i("MOVD %u, %d", groups, n)
		g.i("MOVD %u, %d", u.w, w)
		g.label("weights")
		for _, x := range s {
			y := g.vec()
			g.i("FMOVQ.P 16(%b), %d", w, y)
			g.v("sdot.4s", x, y, u.flip)
		}
		g.i("SUB $1, %u, %d", n, n)
		g.ifNot(n, "weights")
		for _, x := range s {
			g.v("neg.4s", x, x)
		}
	}
	g.ifZero(u.init, "noinit")
	for i, x := range s {
		g.v("add.4s", x, x, g.load(4, u.init, 16*i, g.vec()))
	}
	g.label("noinit")
	for i, x := range s {
		g.i("FMOVQ %u, %i(RSP)", x, u.start+16*i)
	}
}

// endUnits goes on with the next unit, whose first channel is at most that of the last whole one; bytes is the length
// of a unit's weights.
func (g *gen) endUnits(u *unit, bytes *reg) {
	g.i("ADD %u, %u, %d", bytes, u.w, u.w)
	g.i("ADD $64, %u, %d", u.scale, u.scale)
	for i, p := range []*reg{u.init, u.add, u.low} {
		g.ifZero(p, fmt.Sprint("keep", i))
		g.i("ADD $64, %u, %d", p, p)
		g.label(fmt.Sprint("keep", i))
	}
	last, next := g.gp(), g.gp()
	g.i("SUB $%i, %u, %d", unitChannels, u.channels, last)
	g.i("CMP %u, %u", last, u.first)
	g.jump("GE", "end")
	g.i("ADD $%i, %u, %d", unitChannels, u.first, next)
	g.i("CMP %u, %u", last, next)
	g.i("CSEL GT, %u, %u, %d", last, next, u.first)
	g.jump("", "unit")
	g.label("end")
	g.end()
}

// storeUnit requantizes the sums of a unit and stores its codes.
func (g *gen) storeUnit(u *unit, sums []*reg, out *reg, suffix string) {
	g.requantized(sums, 4, u.scale, u.add, u.low, g.vecs(4), suffix)
	c := g.vecs(3)
	for i, x := range c {
		g.i("FMOVQ %i(RSP), %d", u.code+16*i, x)
	}
	g.packInts(sums, c[0], c[1], c[2])
	g.store(4, sums[0], out, 0)
}

// quads interleaves the bytes of four vectors: each word is a channel.
func (g *gen) quads(a, b, c, d *reg) []*reg {
	ab, abHigh := g.op("zip1.16b", a, b), g.op("zip2.16b", a, b)
	cd, cdHigh := g.op("zip1.16b", c, d), g.op("zip2.16b", c, d)
	return []*reg{g.op("zip1.8h", ab, cd), g.op("zip2.8h", ab, cd), g.op("zip1.8h", abHigh, cdHigh),
		g.op("zip2.8h", abHigh, cdHigh)}
}

// addProducts adds products of the words of channels and four vectors of weights.
func (g *gen) addProducts(u *unit, sum, words, weights []*reg) {
	for i, x := range sum {
		if g.mixed {
			g.v("usdot.4s", x, words[i], weights[i])
		} else {
			g.v("sdot.4s", x, words[i], weights[i])
		}
	}
}

// addTap adds products of 16 bits: words and weights are two vectors each.
func (g *gen) addTap(sum, words, weights []*reg) {
	for i := range 2 {
		g.v("smlal.4s", sum[2*i], words[i], weights[i])
		g.v("smlal2.4s", sum[2*i+1], words[i], weights[i])
	}
}

func (g *gen) flipped(u *unit, x *reg) *reg {
	if g.dot && !g.mixed {
		g.v("eor.16b", x, x, u.flip)
	}
	return x
}

func (g *gen) words(x *reg) []*reg { return []*reg{g.op("uxtl.8h", x), g.op("uxtl2.8h", x)} }

// weightBytes is the length of the weights of a group of four taps of a unit.
func (g *gen) weightBytes() int {
	if g.dot {
		return 4 * unitChannels
	}
	return 8 * unitChannels
}

func (g *gen) dotWindow() {
	g.function("dotWindow", "func(channels, n, groups int, taps **uint8, ix int, w *int8, out *uint8, ldo int, "+
		"init *int32, scale, add, low *float32, zero, lo, hi int)",
		"computes n neighbouring positions of a depthwise convolution of codes, of at least 16 channels. taps are groups of",
		"four pointers to the codes of the first position, ix bytes from one position to the next. w, init, scale, add and",
		"low are in units of 16 channels, the last of which may overlap; init, add and low may be nil.")
	groups, taps, ix, out, ldo := g.arg("groups"), g.arg("taps"), g.arg("ix"), g.arg("out"), g.arg("ldo")
	u := g.beginUnits()
	g.starts(u, groups)
	n, off, to := g.arg("n"), g.gp(), g.gp()
	g.i("MOVD %u, %d", u.first, off)
	g.i("ADD %u, %u, %d", u.first, out, to)
	g.comment("one position")
	g.label("position")
	sums := g.vecs(4)
	for i, x := range sums {
		g.i("FMOVQ %i(RSP), %d", u.start+16*i, x)
	}
	tab, w, left := g.gp(), g.gp(), g.gp()
	g.i("MOVD %u, %d", taps, tab)
	g.i("MOVD %u, %d", u.w, w)
	g.i("MOVD %u, %d", groups, left)
	g.label("group")
	x := g.vecs(4)
	for i, y := range x {
		p := g.gp()
		g.i("MOVD %i(%u), %d", 8*i, tab, p)
		g.i("ADD %u, %u, %d", off, p, p)
		g.load(4, p, 0, y)
	}
	g.i("ADD $32, %u, %d", tab, tab)
	if g.dot {
		f := g.vecs(4)
		g.i("FLDPQ.P 32(%b), (%d, %d)", w, f[0], f[1])
		g.i("FLDPQ.P 32(%b), (%d, %d)", w, f[2], f[3])
		for _, y := range x {
			g.flipped(u, y)
		}
		g.addProducts(u, sums, g.quads(x[0], x[1], x[2], x[3]), f)
	} else {
		for _, y := range x {
			f := g.vecs(2)
			g.i("FLDPQ.P 32(%b), (%d, %d)", w, f[0], f[1])
			g.addTap(sums, g.words(y), f)
		}
	}
	g.i("SUB $1, %u, %d", left, left)
	g.ifNot(left, "group")
	g.storeUnit(u, sums, to, "")
	g.i("ADD %u, %u, %d", ldo, to, to)
	g.i("ADD %u, %u, %d", ix, off, off)
	g.i("SUB $1, %u, %d", n, n)
	g.ifNot(n, "position")
	bytes := g.gp()
	g.i("MOVD $%i, %d", g.weightBytes(), bytes)
	g.i("MUL %u, %u, %d", groups, bytes, bytes)
	g.endUnits(u, bytes)
}

// dotSlide keeps the three columns of a window in flight: each is read and interleaved, or widened, once, for three
// neighbouring positions. A column's fourth tap, whose weights are zeros, is its third again.
func (g *gen) dotSlide() {
	g.function("dotSlide", "func(channels, n int, rows **uint8, ix int, w *int8, out *uint8, ldo int, init *int32, "+
		"scale, add, low *float32, zero, lo, hi int)",
		"computes n neighbouring positions of a depthwise 3x3 convolution of codes with stride 1, of at least 16 channels.",
		"rows are three pointers to the first column, ix bytes from one column to the next. w, init, scale, add and low are",
		"in units of 16 channels, the last of which may overlap; add and low may be nil.")
	tab, ix, out, ldo, groups := g.arg("rows"), g.arg("ix"), g.arg("out"), g.arg("ldo"), g.gp()
	g.i("MOVD $3, %d", groups)
	u := g.beginUnits()
	g.starts(u, groups)
	n, to := g.arg("n"), g.gp()
	g.i("ADD %u, %u, %d", u.first, out, to)
	r := g.gps(3)
	for i, p := range r {
		g.i("MOVD %i(%u), %d", 8*i, tab, p)
		g.i("ADD %u, %u, %d", u.first, p, p)
	}
	var weights []*reg
	if g.dot {
		weights = g.vecs(12)
		for i := 0; i < 12; i += 2 {
			g.i("FLDPQ %i(%u), (%d, %d)", 16*i, u.w, weights[i], weights[i+1])
		}
	}
	sums := [3][]*reg{g.vecs(4), g.vecs(4), g.vecs(4)}
	start := func(a int) {
		for i, x := range sums[a] {
			g.i("FMOVQ %i(RSP), %d", u.start+16*i, x)
		}
	}
	// column adds the next column to the sums of positions, which it is column kx of.
	column := func(at ...[2]int) {
		x := g.vecs(3)
		for i, y := range x {
			g.loadStep(4, r[i], ix, y)
		}
		if g.dot {
			for _, y := range x {
				g.flipped(u, y)
			}
			q := g.quads(x[0], x[1], x[2], x[2])
			for _, p := range at {
				g.addProducts(u, sums[p[0]], q, weights[4*p[1]:4*p[1]+4])
			}
			return
		}
		for ky, y := range x {
			q := g.words(y)
			for _, p := range at {
				f := g.vecs(2)
				g.i("FLDPQ %i(%u), (%d, %d)", 128*p[1]+32*ky, u.w, f[0], f[1])
				g.addTap(sums[p[0]], q, f)
			}
		}
	}
	start(0)
	column([2]int{0, 0})
	start(1)
	column([2]int{0, 1}, [2]int{1, 0})
	g.label("positions")
	for p := range 3 {
		start((p + 2) % 3)
		column([2]int{p, 2}, [2]int{(p + 1) % 3, 1}, [2]int{(p + 2) % 3, 0})
		g.storeUnit(u, sums[p], to, fmt.Sprint(p))
		g.i("ADD %u, %u, %d", ldo, to, to)
		g.i("SUB $1, %u, %d", n, n)
		if p < 2 {
			g.ifZero(n, "done")
		}
	}
	g.ifNot(n, "positions")
	g.label("done")
	bytes := g.gp()
	g.i("MOVD $%i, %d", 3*g.weightBytes(), bytes)
	g.endUnits(u, bytes)
}
