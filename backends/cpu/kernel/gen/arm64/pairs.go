package main

import "fmt"

// pairStep is how many bytes of results, or elements that are compared, a turn of the loops below makes.
const pairStep = 32

// everyAt repeats the element of size bytes that p points at.
func (g *gen) everyAt(p *reg, size int) *reg {
	r := g.vec()
	g.i("VLD1R (%u), [%W."+map[int]string{1: "B16", 2: "H8", 4: "S4", 8: "D2"}[size]+"]", p, r)
	return r
}

// pairFunction emits a function of two vectors, or with repeats of one and an element of size bytes. body makes a turn:
// operand loads the next 16 bytes of both.
func (g *gen) pairFunction(name, what string, size int, repeats bool, body func(dst *reg, operand func() (a, b *reg))) {
	shape, suffix := "vv", "VV"
	if repeats {
		shape, suffix = "vs", "VS"
	}
	g.function(shape+name, "func(dst, a, b *byte, n int)", fmt.Sprintf(what, suffix))
	dst, a, b, n := g.arg("dst"), g.arg("a"), g.arg("b"), g.arg("n")
	var s *reg
	if repeats {
		s = g.everyAt(b, size)
	}
	g.whole(n, pairStep, func() {
		body(dst, func() (*reg, *reg) {
			x, y := g.vec(), s
			g.i("FMOVQ.P 16(%b), %d", a, x)
			if !repeats {
				y = g.vec()
				g.i("FMOVQ.P 16(%b), %d", b, y)
			}
			return x, y
		})
	})
}

// comparisons make bytes of 0 and 1, and selections take elements by such bytes.
func comparisons(g *gen) {
	if g.isa != neon {
		return
	}
	for i := range shapes {
		g.selection(i)
	}
	for _, c := range []struct {
		kind string
		size int // its logarithm
	}{
		{"F32", 2}, {"I32", 2}, {"I64", 3}, {"F64", 3}, {"I8", 0}, {"U8", 0}, {"I16", 1}, {"U16", 1}, {"U32", 2}, {"U64", 3},
	} {
		for _, name := range []string{"Less", "LessEqual", "Greater", "GreaterEqual", "Equal", "NotEqual"} {
			if c.kind[0] == 'U' && (name == "Equal" || name == "NotEqual") {
				continue // as of signed ones
			}
			for _, repeats := range []bool{false, true} {
				g.comparison(c.kind, c.size, name, repeats)
			}
		}
	}
}

func (g *gen) comparison(kind string, size int, name string, repeats bool) {
	swap, op := false, "" // ones where it holds; of NotEqual where it does not
	switch name {
	case "Less", "Greater":
		swap, op = name == "Less", map[byte]string{'F': "fcmgt.", 'I': "cmgt.", 'U': "cmhi."}[kind[0]]
	case "LessEqual", "GreaterEqual":
		swap, op = name == "LessEqual", map[byte]string{'F': "fcmge.", 'I': "cmge.", 'U': "cmhs."}[kind[0]]
	default:
		op = map[byte]string{'F': "fcmeq.", 'I': "cmeq."}[kind[0]]
	}
	what := fmt.Sprintf("is %s of [Compare%%s] on n values, a multiple of %d.", name, pairStep)
	g.pairFunction(name+kind, what, 1<<size, repeats, func(dst *reg, operand func() (a, b *reg)) {
		var masks func(to int) *reg // of elements whose size has that logarithm
		masks = func(to int) *reg {
			if to < size {
				a := masks(to + 1)
				return g.op("uzp1."+shapes[to], a, masks(to+1))
			}
			a, b := operand()
			if swap {
				a, b = b, a
			}
			return g.op(op+shapes[size], a, b)
		}
		var bytes [2]*reg
		for i := range bytes {
			bytes[i] = masks(0)
			if name == "NotEqual" {
				bytes[i] = g.op("bic.16b", g.bits(0x01010101), bytes[i])
			} else {
				bytes[i] = g.op("and.16b", g.bits(0x01010101), bytes[i])
			}
		}
		g.i("FSTPQ.P (%u, %u), 32(%b)", bytes[0], bytes[1], dst)
	})
}

// selection takes elements, of whose size the logarithm is given, of two vectors.
func (g *gen) selection(size int) {
	g.function(fmt.Sprintf("select%d", 1<<size), "func(dst, c, a, b *byte, n int)", fmt.Sprintf(
		"is [Choose] on n elements of %d bytes, a multiple of %d.", 1<<size, pairStep))
	dst, c, a, b, n := g.arg("dst"), g.arg("c"), g.arg("a"), g.arg("b"), g.arg("n")
	zero := g.v("movi.16b", g.vec(), 0)
	g.whole(n, 16, func() {
		others := []*reg{g.op("cmeq.16b", g.next(c)(), zero)} // ones where b is taken
		for i := range size {
			var wide []*reg
			for _, m := range others {
				wide = append(wide, g.op("zip1."+shapes[i], m, m), g.op("zip2."+shapes[i], m, m))
			}
			others = wide
		}
		for _, m := range others {
			x, y := g.next(a)(), g.next(b)()
			g.i("FMOVQ.P %u, 16(%b)", g.v("bsl.16b", m, y, x), dst)
		}
	})
}
