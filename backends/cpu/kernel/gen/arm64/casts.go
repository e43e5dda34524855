package main

import "fmt"

// castStep counts the elements that a turn of the casts makes.
const castStep = 32

// casts change the type of elements.
func casts(g *gen) {
	if g.isa != neon {
		return
	}
	for from := 3; from > 0; from-- {
		for to := range from {
			g.narrow(from, to)
		}
	}
	for _, signed := range []bool{false, true} {
		for to := 1; to < 4; to++ {
			for from := range to {
				g.widenTo(signed, from, to)
			}
		}
	}
	each := func(name, doc, op string) {
		g.cast(name, doc, func(load func() *reg, store func(a, b *reg)) {
			for range castStep / 8 {
				a, b := g.op(op, load()), g.op(op, load())
				store(a, b)
			}
		})
	}
	each("int32ToFloat", "rounds int32 to float32", "scvtf.4s")
	each("uint32ToFloat", "rounds uint32 to float32", "ucvtf.4s")
	g.cast("doubleToFloat", "rounds float64 to float32", func(load func() *reg, store func(a, b *reg)) {
		half := func() *reg { return g.v("fcvtn2.4s", g.op("fcvtn.2s", load()), load()) }
		for range castStep / 8 {
			a := half()
			store(a, half())
		}
	})
	halves := func(name, doc, low, high string) {
		g.cast(name, doc, func(load func() *reg, store func(a, b *reg)) {
			values := 4 // of a vector of src
			if low == "shll.4s" {
				values = 8
			}
			for range castStep / values {
				x := load()
				store(g.op(low, x), g.op(high, x))
			}
		})
	}
	halves("floatToDouble", "widens float32 to float64", "fcvtl.2d", "fcvtl2.2d")
	halves("brainToFloat", "widens bfloat16 to float32", "shll.4s", "shll2.4s")
	g.floatToBrain()
	g.int64ToFloat()
	g.floatToInt32()
}

// cast emits a function of n elements, a multiple of castStep, of which body makes so many: load is the next vector of
// src, and store writes the next two of dst.
func (g *gen) cast(name, doc string, body func(load func() *reg, store func(a, b *reg))) {
	g.function(name, "func(dst, src *byte, n int)", fmt.Sprintf("%s; n is a multiple of %d.", doc, castStep))
	dst, src, n := g.arg("dst"), g.arg("src"), g.arg("n")
	g.whole(n, castStep, func() { body(g.next(src), func(a, b *reg) { g.i("FSTPQ.P (%u, %u), 32(%b)", a, b, dst) }) })
}

// next loads the next vector that p points at.
func (g *gen) next(p *reg) func() *reg {
	return func() *reg {
		x := g.vec()
		g.i("FMOVQ.P 16(%b), %d", p, x)
		return x
	}
}

// narrow keeps the low bytes of integers, whose sizes are given by their logarithms.
func (g *gen) narrow(from, to int) {
	g.cast(fmt.Sprintf("narrow%dto%d", 1<<from, 1<<to), "keeps the low bytes of integers",
		func(load func() *reg, store func(a, b *reg)) {
			var low func(size int) *reg
			low = func(size int) *reg {
				if size == from {
					return load()
				}
				a := low(size + 1)
				return g.op("uzp1."+shapes[size], a, low(size+1))
			}
			for range castStep << to / 32 {
				a := low(to)
				store(a, low(to))
			}
		})
}

// widenTo puts zeros or signs before integers, whose sizes are given by their logarithms.
func (g *gen) widenTo(signed bool, from, to int) {
	name, doc, op := "widenU", "puts zeros before integers", "uxtl"
	if signed {
		name, doc, op = "widenS", "puts signs before integers", "sxtl"
	}
	g.cast(fmt.Sprintf("%s%dto%d", name, 1<<from, 1<<to), doc, func(load func() *reg, store func(a, b *reg)) {
		for range castStep << from / 16 {
			x := []*reg{load()}
			for size := from + 1; size <= to; size++ {
				var wide []*reg
				for _, y := range x {
					wide = append(wide, g.op(op+"."+shapes[size], y), g.op(op+"2."+shapes[size], y))
				}
				x = wide
			}
			for i := 0; i < len(x); i += 2 {
				store(x[i], x[i+1])
			}
		}
	})
}

func (g *gen) floatToBrain() {
	g.cast("floatToBrain", "rounds float32 to bfloat16, ties to even", func(load func() *reg, store func(a, b *reg)) {
		rounded := func() *reg { // in the upper halves
			x := load()
			odd := g.op("and.16b", g.op("ushr.4s", x, 16), g.bits(1))
			sum := g.op("add.4s", x, g.v("add.4s", odd, odd, g.bits(0x7fff)))
			quiet := g.op("orr.16b", x, g.bits(0x400000)) // of a NaN
			return g.v("bsl.16b", g.op("fcmeq.4s", x, x), sum, quiet)
		}
		eight := func() *reg {
			a := rounded()
			return g.op("uzp2.8h", a, rounded())
		}
		for range castStep / 16 {
			a := eight()
			store(a, eight())
		}
	})
}

// bounded emits a function that returns 64 bits of two: end reduces the vector any, in which body leaves its flags.
func (g *gen) bounded(name, doc string, start func() *reg, body func(any *reg, load func() *reg, store func(a, b *reg)),
	op string, end func(r *reg)) {
	g.function(name, "func(dst, src *byte, n int) (ret uint64)", fmt.Sprintf("%s; n is a multiple of %d.", doc, castStep))
	dst, src, n := g.arg("dst"), g.arg("src"), g.arg("n")
	any := start()
	g.label("loop")
	body(any, g.next(src), func(a, b *reg) { g.i("FSTPQ.P (%u, %u), 32(%b)", a, b, dst) })
	g.i("SUBS $%i, %u, %d", castStep, n, n)
	g.jump("GT", "loop")
	r := g.gp()
	g.v(op, any, any, g.op("dup.2d", any, 1))
	g.i("FMOVD %u, %d", any, r)
	end(r)
	g.setArg("ret", r)
	g.end()
}

func (g *gen) int64ToFloat() {
	g.bounded("int64ToFloat", "rounds int64 to float32 by way of float64, which holds those that leave the upper 13 bits "+
		"of the result 0",
		func() *reg { return g.v("movi.16b", g.vec(), 0) },
		func(any *reg, load func() *reg, store func(a, b *reg)) {
			double := func() *reg {
				x := load()
				g.v("orr.16b", any, any, g.op("eor.16b", x, g.op("sshr.2d", x, 63))) // or one less than its opposite
				return g.op("scvtf.2d", x)
			}
			four := func() *reg { return g.v("fcvtn2.4s", g.op("fcvtn.2s", double()), double()) }
			for range castStep / 8 {
				a := four()
				store(a, four())
			}
		}, "orr.16b", func(*reg) {})
}

func (g *gen) floatToInt32() {
	g.bounded("floatToInt32", "drops the fractions of float32; the result is not 0 where a number is NaN or none of "+
		"int32 but perhaps its least",
		func() *reg { return g.v("movi.16b", g.vec(), 0xff) },
		func(any *reg, load func() *reg, store func(a, b *reg)) {
			whole := func() *reg {
				x := load()
				g.v("and.16b", any, any, g.op("fcmgt.4s", g.bits(0x4f000000), g.abs(x)))
				return g.op("fcvtzs.4s", x)
			}
			for range castStep / 8 {
				a := whole()
				store(a, whole())
			}
		}, "and.16b", func(r *reg) { g.i("MVN %u, %d", r, r) })
}
