package main

import "fmt"

// halfVectors emits functions that compute in binary16. Their results equal float32's rounded once, because float32 has
// more than twice the bits, and two more. The scalars of vs and sv, and the bounds of Clamp, must be of binary16.
func halfVectors(g *gen) {
	if g.isa != fp16 {
		return
	}
	for _, name := range []string{"Add", "Sub", "Mul", "Div", "Min", "Max"} {
		op := map[string]string{"Add": "fadd.8h", "Sub": "fsub.8h", "Mul": "fmul.8h", "Div": "fdiv.8h", "Min": "fmin.8h",
			"Max": "fmax.8h"}[name]
		g.function("vvHalf"+name, "func(dst, a, b *uint16, n int)",
			fmt.Sprintf("is %s of [BinaryHalvesVV] on n numbers; dst may be a or b.", name))
		dst, a, b, n := g.arg("dst"), g.arg("a"), g.arg("b"), g.arg("n")
		g.streamHalves(n, []*reg{dst, a, b}, func(move func(p, r *reg, write bool)) {
			x, y := g.vec(), g.vec()
			move(a, x, false)
			move(b, y, false)
			move(dst, g.op(op, x, y), true)
		})
		g.end()
		for _, kind := range []string{"vs", "sv"} {
			g.function(kind+"Half"+name, "func(dst, a *uint16, b float32, n int)",
				fmt.Sprintf("is %s of [BinaryHalvesVS] on n numbers, b being one of binary16; dst may be a.", name))
			dst, a, n, s := g.arg("dst"), g.arg("a"), g.arg("n"), g.everyHalf("b")
			g.streamHalves(n, []*reg{dst, a}, func(move func(p, r *reg, write bool)) {
				x := g.vec()
				move(a, x, false)
				if kind == "sv" {
					move(dst, g.op(op, s, x), true)
				} else {
					move(dst, g.op(op, x, s), true)
				}
			})
			g.end()
		}
	}
	for _, name := range []string{"Sqrt", "Abs", "Neg", "Floor", "Ceil", "Round", "Clamp"} {
		op := map[string]string{"Sqrt": "fsqrt.8h", "Abs": "fabs.8h", "Neg": "fneg.8h", "Floor": "frintm.8h",
			"Ceil": "frintp.8h", "Round": "frintn.8h"}[name]
		g.function("unaryHalf"+name, "func(dst, src *uint16, n int, alpha, beta float32)",
			fmt.Sprintf("is %s of [UnaryHalves] on n numbers, alpha and beta being of binary16; dst may be src.", name))
		dst, src, n := g.arg("dst"), g.arg("src"), g.arg("n")
		var lo, hi *reg
		if name == "Clamp" {
			lo, hi = g.everyHalf("alpha"), g.everyHalf("beta")
		}
		g.streamHalves(n, []*reg{dst, src}, func(move func(p, r *reg, write bool)) {
			x := g.vec()
			move(src, x, false)
			if name == "Clamp" { // the sign of a zero inside the bounds is kept
				g.v("bit.16b", x, lo, g.op("fcmgt.8h", lo, x))
				g.v("bit.16b", x, hi, g.op("fcmgt.8h", x, hi))
			} else {
				x = g.op(op, x)
			}
			move(dst, x, true)
		})
		g.end()
	}
}

// everyHalf repeats a parameter of float32, rounded to binary16, all over a vector.
func (g *gen) everyHalf(name string) *reg {
	r := g.every(name)
	g.v("fcvtn.4h", r, r)
	return g.v("dup.8h", r, r, 0)
}

// streamHalves walks n numbers of binary16: body is emitted for four vectors, for one, and for one number. Its move
// loads r from p, or writes r there; ptrs move on together.
func (g *gen) streamHalves(n *reg, ptrs []*reg, body func(move func(p, r *reg, write bool))) {
	emit := func(at int) {
		body(func(p, r *reg, write bool) {
			if write {
				g.i("FMOVQ %u, %i(%u)", r, at, p)
			} else {
				g.i("FMOVQ %i(%u), %d", at, p, r)
			}
		})
	}
	step := func(vectors int, loop, next string) {
		g.comment("%d vectors at a time", vectors)
		g.i("SUBS $%i, %u, %d", 8*vectors, n, n)
		g.jump("LT", next)
		g.label(loop)
		for v := range vectors {
			emit(16 * v)
		}
		for _, p := range ptrs {
			g.i("ADD $%i, %u, %d", 16*vectors, p, p)
		}
		g.i("SUBS $%i, %u, %d", 8*vectors, n, n)
		g.jump("GE", loop)
		g.label(next)
		g.i("ADD $%i, %u, %d", 8*vectors, n, n)
	}
	step(4, "unrolled", "few")
	step(1, "vector", "rest")
	g.ifZero(n, "done")
	g.label("one")
	t := g.gp()
	body(func(p, r *reg, write bool) {
		if write {
			g.i("FMOVS %u, %d", r, t)
			g.i("MOVH %u, (%u)", t, p)
		} else {
			g.i("MOVHU (%u), %d", p, t)
			g.i("FMOVS %u, %d", t, r)
		}
	})
	for _, p := range ptrs {
		g.i("ADD $2, %u, %d", p, p)
	}
	g.i("SUBS $1, %u, %d", n, n)
	g.jump("NE", "one")
	g.label("done")
}

func init() {
	for name, bits := range map[string]uint32{"fadd": 0x4e401400, "fsub": 0x4ec01400, "fmul": 0x6e401c00,
		"fdiv": 0x6e403c00, "fmin": 0x4ec03400, "fmax": 0x4e403400, "fcmgt": 0x6ec02400} {
		forms[name+".8h"] = form{bits, name + " D.8h, N.8h, M.8h"}
	}
	for name, bits := range map[string]uint32{"fabs": 0x4ef8f800, "fneg": 0x6ef8f800, "fsqrt": 0x6ef9f800,
		"frintn": 0x4e798800, "frintm": 0x4e799800, "frintp": 0x4ef98800} {
		forms[name+".8h"] = form{bits, name + " D.8h, N.8h"}
	}
}
