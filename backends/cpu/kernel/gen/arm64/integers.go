package main

import "fmt"

// integerOp computes a vector of two vectors of integers, of whose size the logarithm is given.
type integerOp struct {
	name  string
	size  int
	op    func(a, b *reg) *reg
	folds bool // many values can be reduced by it
}

// integerOps are the functions of two integers. Sums, products and functions of bits have one for both signs.
func (g *gen) integerOps() []integerOp {
	var list []integerOp
	for _, o := range []struct {
		name, op string
		folds    bool
	}{
		{"AddI", "add", true}, {"SubI", "sub", false}, {"MulI", "mul", false}, {"MinI", "smin", true}, {"MaxI", "smax", true},
		{"LeastU", "umin", true}, {"MostU", "umax", true},
	} {
		for i, shape := range shapes {
			op := func(a, b *reg) *reg { return g.op(o.op+"."+shape, a, b) }
			if _, ok := forms[o.op+"."+shape]; !ok { // of 64 bits
				op = map[string]func(a, b *reg) *reg{"mul": g.multiplyLong, "smin": g.pickLong("cmgt.2d", true),
					"smax": g.pickLong("cmgt.2d", false), "umin": g.pickLong("cmhi.2d", true),
					"umax": g.pickLong("cmhi.2d", false)}[o.op]
			}
			list = append(list, integerOp{fmt.Sprint(o.name, 8<<i), i, op, o.folds})
		}
	}
	for i := range shapes {
		list = append(list, integerOp{fmt.Sprint("ShlI", 8<<i), i, g.shift(i, true), false})
	}
	for i := range shapes {
		list = append(list, integerOp{fmt.Sprint("ShrU", 8<<i), i, g.shift(i, false), false})
	}
	for _, o := range []struct{ name, op string }{{"And", "and.16b"}, {"Or", "orr.16b"}, {"Xor", "eor.16b"}} {
		list = append(list,
			integerOp{o.name + "Bits", 0, func(a, b *reg) *reg { return g.op(o.op, a, b) }, false},
			integerOp{o.name + "Bool", 0, func(a, b *reg) *reg {
				ones := g.bits(0x01010101)
				return g.op(o.op, g.op("umin.16b", a, ones), g.op("umin.16b", b, ones))
			}, false})
	}
	return list
}

// pickLong is the smaller of two integers of 64 bits, or the larger, by a comparison.
func (g *gen) pickLong(larger string, smallest bool) func(a, b *reg) *reg {
	return func(a, b *reg) *reg {
		if smallest {
			return g.v("bsl.16b", g.op(larger, b, a), a, b)
		}
		return g.v("bsl.16b", g.op(larger, a, b), a, b)
	}
}

// multiplyLong is the low 64 bits of products: those of the low halves, and the two mixed ones above.
func (g *gen) multiplyLong(a, b *reg) *reg {
	mixed := g.op("rev64.4s", b)
	g.v("mul.4s", mixed, mixed, a)
	g.v("uaddlp.2d", mixed, mixed)
	g.v("shl.2d", mixed, mixed, 32)
	return g.v("umlal.2d", mixed, g.op("xtn.2s", a), g.op("xtn.2s", b))
}

// shift moves bits by numbers of them; the instruction shifts to the right by negative numbers of one byte.
func (g *gen) shift(size int, left bool) func(a, b *reg) *reg {
	shape, most := shapes[size], uint64(8<<size-1)
	for width := 8 << size; width < 64; width *= 2 {
		most |= most << width
	}
	return func(a, b *reg) *reg {
		by := b
		if !left {
			by = g.op("neg."+shape, b)
		}
		r := g.op("ushl."+shape, a, by)
		return g.v("bic.16b", r, r, g.op("cmhi."+shape, b, g.constant(most))) // a longer shift leaves nothing
	}
}

// integerFunctions take one integer.
func (g *gen) integerFunctions() []integerOp {
	var list []integerOp
	for i, shape := range shapes {
		add := func(name string, op func(x *reg) *reg) {
			list = append(list, integerOp{name: fmt.Sprint(name, 8<<i), op: func(x, _ *reg) *reg { return op(x) }})
		}
		add("AbsI", func(x *reg) *reg { return g.op("abs."+shape, x) })
		add("NegI", func(x *reg) *reg { return g.op("neg."+shape, x) })
		add("SignI", func(x *reg) *reg {
			zero := g.v("movi.16b", g.vec(), 0)
			more, less := g.op("cmgt."+shape, x, zero), g.op("cmgt."+shape, zero, x)
			return g.op("sub."+shape, less, more)
		})
	}
	return list
}

// integerPairs are functions of integers of two vectors, or of one and a number, or of one vector, and folds.
func integerPairs(g *gen) {
	if g.isa != neon {
		return
	}
	for _, o := range g.integerOps() {
		what := fmt.Sprintf("is %s of [Integers%%s] on n bytes, a multiple of %d; dst may be a.", o.name, pairStep)
		for _, repeats := range []bool{false, true} {
			g.pairFunction(o.name, what, 1<<o.size, repeats, func(dst *reg, operand func() (a, b *reg)) {
				x, y := o.op(operand()), o.op(operand())
				g.i("FSTPQ.P (%u, %u), 32(%b)", x, y, dst)
			})
		}
		if o.folds {
			g.fold(o)
		}
	}
	for _, o := range g.integerFunctions() {
		g.function("each"+o.name, "func(dst, a *byte, n int)",
			fmt.Sprintf("is %s of [IntegersEach] on n bytes, a multiple of %d; dst may be a.", o.name, pairStep))
		dst, a, n := g.arg("dst"), g.arg("a"), g.arg("n")
		g.whole(n, pairStep, func() {
			x, y := g.vec(), g.vec()
			g.i("FLDPQ.P 32(%b), (%d, %d)", a, x, y)
			g.i("FSTPQ.P (%u, %u), 32(%b)", o.op(x, nil), o.op(y, nil), dst)
		})
	}
}

func (g *gen) fold(o integerOp) {
	g.function("fold"+o.name, "func(dst, a *byte, n int)",
		fmt.Sprintf("is %s of [FoldIntegers] on n bytes, a multiple of %d.", o.name, pairStep))
	dst, a, n := g.arg("dst"), g.arg("a"), g.arg("n")
	sums := g.vecs(2)
	g.i("FLDPQ (%u), (%d, %d)", dst, sums[0], sums[1])
	g.label("loop")
	x := g.vecs(2)
	g.i("FLDPQ.P 32(%b), (%d, %d)", a, x[0], x[1])
	for i, s := range sums {
		g.v("mov.16b", s, o.op(s, x[i]))
	}
	g.i("SUBS $%i, %u, %d", pairStep, n, n)
	g.jump("GT", "loop")
	g.i("FSTPQ (%u, %u), (%u)", sums[0], sums[1], dst)
	g.end()
}
