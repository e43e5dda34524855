package main

import "fmt"

// pairStep is how many bytes of results, or elements that are compared, a turn of the loops below makes.
const pairStep = 32

// everyAt repeats the element of size bytes that p points at.
func (g *gen) everyAt(p *reg, size int) *reg {
	r := g.vec()
	g.i("VLD1R (%u), [%W."+map[int]string{1: "B16", 4: "S4", 8: "D2"}[size]+"]", p, r)
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

// integerPairs are functions of integers of two vectors, or of one and a number.
func integerPairs(g *gen) {
	if g.isa != neon {
		return
	}
	op := func(name string) func(a, b *reg) *reg { return func(a, b *reg) *reg { return g.op(name, a, b) } }
	truth := func(name string) func(a, b *reg) *reg {
		return func(a, b *reg) *reg {
			ones := g.bits(0x01010101)
			return g.op(name, g.op("umin.16b", a, ones), g.op("umin.16b", b, ones))
		}
	}
	// pick64 is a where a mask holds, else b.
	pick64 := func(mask, a, b *reg) *reg {
		g.v("bsl.16b", mask, a, b)
		return mask
	}
	for _, o := range []struct {
		name string
		size int
		f    func(a, b *reg) *reg
	}{
		{"AddI32", 4, op("add.4s")}, {"SubI32", 4, op("sub.4s")}, {"MulI32", 4, op("mul.4s")},
		{"MinI32", 4, op("smin.4s")}, {"MaxI32", 4, op("smax.4s")}, {"AddI64", 8, op("add.2d")},
		{"SubI64", 8, op("sub.2d")},
		{"MinI64", 8, func(a, b *reg) *reg { return pick64(g.op("cmgt.2d", b, a), a, b) }},
		{"MaxI64", 8, func(a, b *reg) *reg { return pick64(g.op("cmgt.2d", a, b), a, b) }},
		{"AndBits", 1, op("and.16b")}, {"OrBits", 1, op("orr.16b")}, {"XorBits", 1, op("eor.16b")},
		{"AndBool", 1, truth("and.16b")}, {"OrBool", 1, truth("orr.16b")}, {"XorBool", 1, truth("eor.16b")},
	} {
		what := fmt.Sprintf("is %s of [Integers%%s] on n bytes, a multiple of %d; dst may be a.", o.name, pairStep)
		for _, repeats := range []bool{false, true} {
			g.pairFunction(o.name, what, o.size, repeats, func(dst *reg, operand func() (a, b *reg)) {
				x, y := o.f(operand()), o.f(operand())
				g.i("FSTPQ.P (%u, %u), 32(%b)", x, y, dst)
			})
		}
	}
}

// comparisons make bytes of 0 and 1.
func comparisons(g *gen) {
	if g.isa != neon {
		return
	}
	for _, kind := range []string{"F32", "I32", "I64"} {
		size, shape, prefix := 4, ".4s", "cm"
		switch kind {
		case "F32":
			prefix = "fcm"
		case "I64":
			size, shape = 8, ".2d"
		}
		for _, name := range []string{"Less", "LessEqual", "Greater", "GreaterEqual", "Equal", "NotEqual"} {
			mask := func(a, b *reg) *reg { // ones where it holds; of NotEqual where it does not
				switch name {
				case "Less":
					return g.op(prefix+"gt"+shape, b, a)
				case "LessEqual":
					return g.op(prefix+"ge"+shape, b, a)
				case "Greater":
					return g.op(prefix+"gt"+shape, a, b)
				case "GreaterEqual":
					return g.op(prefix+"ge"+shape, a, b)
				}
				return g.op(prefix+"eq"+shape, a, b)
			}
			what := fmt.Sprintf("is %s of [Compare%%s] on n values, a multiple of %d.", name, pairStep)
			for _, repeats := range []bool{false, true} {
				g.pairFunction(name+kind, what, size, repeats, func(dst *reg, operand func() (a, b *reg)) {
					words := func() *reg { // masks of four values
						x := mask(operand())
						if size == 8 {
							x = g.op("uzp1.4s", x, mask(operand()))
						}
						return x
					}
					var bytes [2]*reg
					for i := range bytes {
						low := g.op("uzp1.8h", words(), words())
						high := g.op("uzp1.8h", words(), words())
						bytes[i] = g.op("uzp1.16b", low, high)
						if name == "NotEqual" {
							bytes[i] = g.op("bic.16b", g.bits(0x01010101), bytes[i])
						} else {
							bytes[i] = g.op("and.16b", g.bits(0x01010101), bytes[i])
						}
					}
					g.i("FSTPQ.P (%u, %u), 32(%b)", bytes[0], bytes[1], dst)
				})
			}
		}
	}
}
