package main

import (
	"fmt"
	"math"

	"github.com/anynpu/anynpu/backends/cpu/kernel/gen/formula"
)

// doubles is a formula.Machine: vectors of two float64.
type doubles struct{ *gen }

var _ formula.Machine[*reg] = doubles{}

// inDoubles are the functions of one value that package formula has.
var inDoubles = []struct {
	name string
	f    func(m formula.Machine[*reg], x *reg) *reg
}{
	{"Sin", formula.Sin[*reg]}, {"Cos", formula.Cos[*reg]}, {"Tan", formula.Tan[*reg]},
	{"Asin", formula.Asin[*reg]}, {"Acos", formula.Acos[*reg]}, {"Atan", formula.Atan[*reg]},
	{"Sinh", formula.Sinh[*reg]}, {"Cosh", formula.Cosh[*reg]},
	{"Asinh", formula.Asinh[*reg]}, {"Acosh", formula.Acosh[*reg]}, {"Atanh", formula.Atanh[*reg]},
}

// heldDoubles is how many constants stay in registers in functions of doubles, which need many others.
const heldDoubles = 6

func unaryDoubles(g *gen) {
	if g.isa != neon {
		return
	}
	m := doubles{g}
	for _, o := range inDoubles {
		g.function("unary"+o.name, "func(dst, src *float32, n int, alpha, beta float32)",
			fmt.Sprintf("is %s of [Unary] on n values; dst may be src.", o.name))
		g.maxHeld = heldDoubles
		dst, src, n := g.arg("dst"), g.arg("src"), g.arg("n")
		g.stream(n, 1, []*reg{dst, src}, func(at, lanes int) {
			x := g.load(lanes, src, at, g.vec())
			g.store(lanes, m.join(lanes, func(half int) *reg { return o.f(m, m.half(x, half)) }), dst, at)
		})
		g.end()
	}
}

func binaryDoubles(g *gen) {
	if g.isa != neon {
		return
	}
	m := doubles{g}
	g.function("vvPow", "func(dst, a, b *float32, n int)", "is Pow of [BinaryVV] on n values; dst may be a or b.")
	g.maxHeld = heldDoubles
	dst, a, b, n := g.arg("dst"), g.arg("a"), g.arg("b"), g.arg("n")
	g.stream(n, 1, []*reg{dst, a, b}, func(at, lanes int) {
		x, y := g.load(lanes, a, at, g.vec()), g.load(lanes, b, at, g.vec())
		pow := func(half int) *reg { return formula.Pow[*reg](m, m.half(x, half), m.half(y, half)) }
		g.store(lanes, m.join(lanes, pow), dst, at)
	})
	g.end()
	for _, swap := range []bool{false, true} {
		name, of := "vsPow", "BinaryVS"
		if swap {
			name, of = "svPow", "BinarySV"
		}
		g.function(name, "func(dst, a *float32, b float32, n int)",
			fmt.Sprintf("is Pow of [%s] on n values; dst may be a.", of))
		g.maxHeld = heldDoubles
		dst, a, n := g.arg("dst"), g.arg("a"), g.arg("n")
		s := m.half(g.every("b"), 0)
		g.stream(n, 1, []*reg{dst, a}, func(at, lanes int) {
			x := g.load(lanes, a, at, g.vec())
			g.store(lanes, m.join(lanes, func(half int) *reg {
				if swap {
					return formula.Pow[*reg](m, s, m.half(x, half))
				}
				return formula.Pow[*reg](m, m.half(x, half), s)
			}), dst, at)
		})
		g.end()
	}
}

// half widens the lower or the upper half of a vector of float32.
func (m doubles) half(x *reg, half int) *reg {
	return m.op([2]string{"fcvtl.2d", "fcvtl2.2d"}[half], x)
}

// join narrows the halves of so many values.
func (m doubles) join(lanes int, f func(half int) *reg) *reg {
	r := m.op("fcvtn.2s", f(0))
	if lanes == 4 {
		m.v("fcvtn2.4s", r, f(1))
	}
	return r
}

// Number is a constant.
func (m doubles) Number(x float64) *reg { return m.Bits(math.Float64bits(x)) }

// Bits is a constant of 64 bits.
func (m doubles) Bits(b uint64) *reg { return m.constant(b) }

// Add is a + b.
func (m doubles) Add(a, b *reg) *reg { return m.op("fadd.2d", a, b) }

// Sub is a - b.
func (m doubles) Sub(a, b *reg) *reg { return m.op("fsub.2d", a, b) }

// Mul is a * b.
func (m doubles) Mul(a, b *reg) *reg { return m.op("fmul.2d", a, b) }

// Div is a / b.
func (m doubles) Div(a, b *reg) *reg { return m.op("fdiv.2d", a, b) }

// Min is the smaller one.
func (m doubles) Min(a, b *reg) *reg { return m.op("fmin.2d", a, b) }

// Max is the larger one.
func (m doubles) Max(a, b *reg) *reg { return m.op("fmax.2d", a, b) }

// Sqrt is the square root.
func (m doubles) Sqrt(a *reg) *reg { return m.op("fsqrt.2d", a) }

// FMA is a*b + c.
func (m doubles) FMA(a, b, c *reg) *reg { return m.v("fmla.2d", m.copy(c), a, b) }

// FNMA is c - a*b.
func (m doubles) FNMA(a, b, c *reg) *reg { return m.v("fmls.2d", m.copy(c), a, b) }

// Poly evaluates by Horner's rule.
func (m doubles) Poly(x *reg, c ...float64) *reg {
	p := m.Number(c[0])
	for _, k := range c[1:] {
		p = m.FMA(p, x, m.Number(k))
	}
	return p
}

// Pick is a < b ? yes : no.
func (m doubles) Pick(a, b, yes, no *reg) *reg {
	return m.v("bsl.16b", m.op("fcmgt.2d", b, a), yes, no)
}

// PickSign is yes where the sign bit of a is set.
func (m doubles) PickSign(a, yes, no *reg) *reg {
	return m.v("bsl.16b", m.op("sshr.2d", a, 63), yes, no)
}

// And is a & b.
func (m doubles) And(a, b *reg) *reg { return m.op("and.16b", a, b) }

// Or is a | b.
func (m doubles) Or(a, b *reg) *reg { return m.op("orr.16b", a, b) }

// Xor is a ^ b.
func (m doubles) Xor(a, b *reg) *reg { return m.op("eor.16b", a, b) }

// AddBits is a + b as integers.
func (m doubles) AddBits(a, b *reg) *reg { return m.op("add.2d", a, b) }

// SubBits is a - b as integers.
func (m doubles) SubBits(a, b *reg) *reg { return m.op("sub.2d", a, b) }

// Left shifts to the left.
func (m doubles) Left(a *reg, n int) *reg { return m.op("shl.2d", a, n) }

// Right shifts to the right, zeros behind.
func (m doubles) Right(a *reg, n int) *reg { return m.op("ushr.2d", a, n) }
