package main

import (
	"fmt"
	"math"

	"github.com/anynpu/anynpu/backends/cpu/kernel/gen/formula"
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// doubles is a formula.Machine: vectors of half as many float64. Values are registers, or constants in memory.
type doubles struct{ *gen }

type number = operand.Op

var _ formula.Machine[number] = doubles{}

// inDoubles are the functions of one value that package formula has.
var inDoubles = []struct {
	name string
	f    func(m formula.Machine[number], x number) number
}{
	{"Sin", formula.Sin[number]}, {"Cos", formula.Cos[number]}, {"Tan", formula.Tan[number]},
	{"Asin", formula.Asin[number]}, {"Acos", formula.Acos[number]}, {"Atan", formula.Atan[number]},
	{"Sinh", formula.Sinh[number]}, {"Cosh", formula.Cosh[number]},
	{"Asinh", formula.Asinh[number]}, {"Acosh", formula.Acosh[number]}, {"Atanh", formula.Atanh[number]},
}

func unaryDoubles(g *gen) {
	m := doubles{g}
	for _, o := range inDoubles {
		g.text("unary"+o.name, "func(dst, src *float32, n int, alpha, beta float32)",
			fmt.Sprintf("is %s of [Unary] on n values; dst may be src.", o.name))
		dst, src, n := g.loadArg("dst"), g.loadArg("src"), g.loadArg("n")
		g.stream(n, 1, []reg.GPVirtual{dst, src}, func(d int, masked bool) {
			x := g.get(at(src, d), masked)
			m.join(masked, at(dst, d), func(half int) number { return o.f(m, m.half(x, half)) })
		})
		g.ret()
	}
}

func binaryDoubles(g *gen) {
	m := doubles{g}
	g.text("vvPow", "func(dst, a, b *float32, n int)", "is Pow of [BinaryVV] on n values; dst may be a or b.")
	dst, a, b, n := g.loadArg("dst"), g.loadArg("a"), g.loadArg("b"), g.loadArg("n")
	g.stream(n, 1, []reg.GPVirtual{dst, a, b}, func(d int, masked bool) {
		x, y := g.get(at(a, d), masked), g.get(at(b, d), masked)
		m.join(masked, at(dst, d), func(half int) number { return formula.Pow[number](m, m.half(x, half), m.half(y, half)) })
	})
	g.ret()
	for _, swap := range []bool{false, true} {
		name, of := "vsPow", "BinaryVS"
		if swap {
			name, of = "svPow", "BinarySV"
		}
		g.text(name, "func(dst, a *float32, b float32, n int)", fmt.Sprintf("is Pow of [%s] on n values; dst may be a.", of))
		dst, a, n := g.loadArg("dst"), g.loadArg("a"), g.loadArg("n")
		s := m.half(g.bcastArg("b"), 0)
		g.stream(n, 1, []reg.GPVirtual{dst, a}, func(d int, masked bool) {
			x := g.get(at(a, d), masked)
			m.join(masked, at(dst, d), func(half int) number {
				if swap {
					return formula.Pow[number](m, s, m.half(x, half))
				}
				return formula.Pow[number](m, m.half(x, half), s)
			})
		})
		g.ret()
	}
}

// half widens the lower or the upper half of a vector of float32.
func (m doubles) half(x reg.VecVirtual, half int) number {
	r := m.v()
	switch {
	case half == 0 && m.wide():
		m.VCVTPS2PD(x.AsY(), r)
	case half == 0:
		m.VCVTPS2PD(x.AsX(), r)
	case m.wide():
		m.VEXTRACTF64X4(operand.U8(1), x, r.AsY())
		m.VCVTPS2PD(r.AsY(), r)
	default:
		m.VEXTRACTF128(operand.U8(1), x, r.AsX())
		m.VCVTPS2PD(r.AsX(), r)
	}
	return r
}

// join narrows both halves and stores them.
func (m doubles) join(masked bool, to operand.Mem, f func(half int) number) {
	r, h := m.v(), m.v()
	m.together(2, func(half int) {
		to := []reg.VecVirtual{r, h}[half]
		if v := m.in(f(half)); m.wide() {
			m.VCVTPD2PS(v, to.AsY())
		} else {
			m.VCVTPD2PSY(v, to.AsX())
		}
	})
	if m.wide() {
		m.VINSERTF64X4(operand.U8(1), h.AsY(), r, r)
	} else {
		m.VINSERTF128(operand.U8(1), h.AsX(), r, r)
	}
	m.storeMaybe(masked, r, to)
}

// in is a value in a register.
func (m doubles) in(v number) reg.VecVirtual {
	if r, ok := v.(reg.VecVirtual); ok {
		return r
	}
	return m.copy(v)
}

func (m doubles) copy(v number) reg.VecVirtual {
	r := m.v()
	m.VMOVUPD(v, r)
	return r
}

// Number is a constant.
func (m doubles) Number(x float64) number { return m.Bits(math.Float64bits(x)) }

// Bits is a constant repeated to a full vector in read-only memory.
func (m doubles) Bits(b uint64) number {
	name := fmt.Sprintf("d%016x", b)
	if c, ok := m.consts[name]; ok {
		return c
	}
	c := m.StaticGlobal(name)
	m.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 8 {
		m.AddDatum(8*i, operand.U64(b))
	}
	m.consts[name] = c
	m.vectors[c.Symbol.Name] = true
	return c
}

// by is a op b; only b may stay in memory.
func (m doubles) by(op vop, a, b number) number {
	r := m.v()
	op(b, m.in(a), r)
	return r
}

// either is by for an operation whose operands can be exchanged.
func (m doubles) either(op vop, a, b number) number {
	if _, ok := a.(operand.Mem); ok {
		a, b = b, a
	}
	return m.by(op, a, b)
}

// Add is a + b.
func (m doubles) Add(a, b number) number { return m.either(m.VADDPD, a, b) }

// Sub is a - b.
func (m doubles) Sub(a, b number) number { return m.by(m.VSUBPD, a, b) }

// Mul is a * b.
func (m doubles) Mul(a, b number) number { return m.either(m.VMULPD, a, b) }

// Div is a / b.
func (m doubles) Div(a, b number) number { return m.by(m.VDIVPD, a, b) }

// Min is b where it is less than a.
func (m doubles) Min(a, b number) number { return m.by(m.VMINPD, b, m.in(a)) }

// Max is b where it is greater than a.
func (m doubles) Max(a, b number) number { return m.by(m.VMAXPD, b, m.in(a)) }

// Sqrt is the square root.
func (m doubles) Sqrt(a number) number {
	r := m.v()
	m.VSQRTPD(a, r)
	return r
}

// FMA is a*b + c.
func (m doubles) FMA(a, b, c number) number {
	r := m.copy(c)
	if _, ok := a.(operand.Mem); ok {
		a, b = b, a
	}
	m.VFMADD231PD(b, m.in(a), r)
	return r
}

// FNMA is c - a*b.
func (m doubles) FNMA(a, b, c number) number {
	r := m.copy(c)
	if _, ok := a.(operand.Mem); ok {
		a, b = b, a
	}
	m.VFNMADD231PD(b, m.in(a), r)
	return r
}

// Poly evaluates by Horner's rule.
func (m doubles) Poly(x number, c ...float64) number {
	p, v := m.copy(m.Number(c[0])), m.in(x)
	for _, k := range c[1:] {
		m.VFMADD213PD(m.Number(k), v, p)
	}
	return p
}

// Pick is a < b ? yes : no.
func (m doubles) Pick(a, b, yes, no number) number {
	if m.wide() {
		k := m.K()
		m.VCMPPD(operand.U8(predLess), b, m.in(a), k)
		return m.where(k, yes, no)
	}
	mask, r := m.v(), m.v()
	m.VCMPPD(operand.U8(predLess), b, m.in(a), mask)
	m.VBLENDVPD(mask, yes, m.in(no), r)
	return r
}

// where is yes under a mask. A blend would do, but avo takes it to read its result, too, which is then live from the
// beginning of the function.
func (m doubles) where(k reg.OpmaskVirtual, yes, no number) number {
	r := m.copy(no)
	m.VMOVUPD(yes, k, r)
	return r
}

// PickSign is yes where the sign bit of a is set.
func (m doubles) PickSign(a, yes, no number) number {
	if m.wide() {
		k := m.K()
		m.VPMOVQ2M(m.in(a), k)
		return m.where(k, yes, no)
	}
	r := m.v()
	m.VBLENDVPD(m.in(a), yes, m.in(no), r)
	return r
}

// And, Or and Xor are functions of bits.
func (m doubles) And(a, b number) number { return m.either(m.VANDPD, a, b) }

// Or is a | b.
func (m doubles) Or(a, b number) number { return m.either(m.VORPD, a, b) }

// Xor is a ^ b.
func (m doubles) Xor(a, b number) number { return m.either(m.VXORPD, a, b) }

// AddBits is a + b as integers.
func (m doubles) AddBits(a, b number) number { return m.either(m.VPADDQ, a, b) }

// SubBits is a - b as integers.
func (m doubles) SubBits(a, b number) number { return m.by(m.VPSUBQ, a, b) }

// Left shifts to the left.
func (m doubles) Left(a number, n int) number {
	r := m.v()
	m.VPSLLQ(operand.U8(uint8(n)), m.in(a), r)
	return r
}

// Right shifts to the right, zeros behind.
func (m doubles) Right(a number, n int) number {
	r := m.v()
	m.VPSRLQ(operand.U8(uint8(n)), m.in(a), r)
	return r
}
