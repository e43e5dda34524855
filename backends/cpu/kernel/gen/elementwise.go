package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// stream walks n values: body is emitted for unroll vectors, for one, and for the masked rest; for one of binary16 at a
// time where those have no masks. ptrs move on together; body gets the byte offset and says whether to load and store
// under the mask.
func (g *gen) stream(n reg.GPVirtual, unroll int, ptrs []reg.GPVirtual, body func(disp int, masked bool)) {
	g.streams(n, unroll, false, ptrs, body)
}

// longStream is stream for a body that is a long chain of instructions: those of two vectors take turns.
func (g *gen) longStream(n reg.GPVirtual, ptrs []reg.GPVirtual, body func(disp int, masked bool)) {
	g.streams(n, 2, true, ptrs, body)
}

func (g *gen) streams(n reg.GPVirtual, unroll int, long bool, ptrs []reg.GPVirtual, body func(disp int, masked bool)) {
	size := g.size * g.lanes
	step := func(u int, loop, next string) {
		loop, next = g.pass+loop, g.pass+next
		g.Commentf("%d vectors at a time", u)
		g.Label(loop)
		g.CMPQ(n, imm(u*g.lanes))
		g.JLT(label(next))
		switch {
		case long && u > 1:
			g.together(u, func(i int) { body(i*size, false) })
		case g.brain && u > 1:
			g.pairs = true
			for i := 0; i < u; i += 2 {
				body(i*size, false)
			}
			g.pairs = false
		default:
			for i := range u {
				body(i*size, false)
			}
		}
		for _, p := range ptrs {
			g.ADDQ(imm(u*size), p)
		}
		g.SUBQ(imm(u*g.lanes), n)
		g.JMP(label(loop))
	}
	if unroll > 1 {
		step(unroll, "unrolled", "vector")
	}
	step(1, "vector", "tail")
	if g.size == 2 && !g.wide() { // which has no masks for them
		g.Comment("the rest, one by one")
		g.Label(g.pass + "tail")
		g.TESTQ(n, n)
		g.JZ(label(g.pass + "done"))
		body(0, true)
		for _, p := range ptrs {
			g.ADDQ(imm(g.size), p)
		}
		g.DECQ(n)
		g.JMP(label(g.pass + "tail"))
		g.Label(g.pass + "done")
		return
	}
	g.Comment("the rest, under the mask")
	g.Label(g.pass + "tail")
	g.TESTQ(n, n)
	g.JZ(label(g.pass + "done"))
	g.tail(n)
	body(0, true)
	g.Label(g.pass + "done")
}

// get loads float32 numbers, or makes them of halves.
func (g *gen) get(m operand.Mem, masked bool) reg.VecVirtual {
	r := g.v()
	switch {
	case g.size == 4:
		g.loadMaybe(masked, m, r)
	case g.brain:
		g.getBrain(m, masked, r)
	case !masked:
		g.VCVTPH2PS(m, r)
	case g.wide():
		h := g.half()
		g.VMOVDQU16_Z(m, reg.K1, h)
		g.VCVTPH2PS(h, r)
	default:
		w, h := g.GP32(), g.half()
		g.MOVWLZX(m, w)
		g.VMOVD(w, h)
		g.VCVTPH2PS(h, r)
	}
	return r
}

// put stores numbers in the form that get loads.
func (g *gen) put(masked bool, x reg.Register, m operand.Mem) {
	switch {
	case g.size == 4:
		g.storeMaybe(masked, x, m)
	case g.brain:
		g.putBrain(masked, x, m)
	default:
		h := g.half() // the form that stores takes twice the time
		g.VCVTPS2PH(operand.U8(0), x, h)
		switch {
		case !masked:
			g.VMOVUPS(h, m)
		case g.wide():
			g.VMOVDQU16(h, reg.K1, m)
		default:
			w := g.GP32()
			g.VMOVD(h, w)
			g.MOVW(w.As16(), m)
		}
	}
}

// apply stores a function of numbers.
func (g *gen) apply(masked bool, dst operand.Mem, f func(x ...reg.Register) reg.Register, src ...operand.Mem) {
	x := make([]reg.Register, len(src))
	if !g.pairs {
		for i, m := range src {
			x[i] = g.get(m, masked)
		}
		g.put(masked, f(x...), dst)
		return
	}
	// Two vectors of bfloat16: those at even places, and those at odd ones, which are float32 but for their lower halves.
	both := make([]reg.VecVirtual, len(src))
	for i, m := range src {
		both[i] = g.mov(m)
		x[i] = g.v()
		g.VPSLLD(operand.U8(16), both[i], x[i])
	}
	even := g.roundedBrain(f(x...))
	g.VPSRLD(operand.U8(16), even, even)
	for i := range src {
		x[i] = g.bin(g.and(), g.bcast(0xffff0000), both[i])
	}
	odd := g.roundedBrain(f(x...))
	if g.wide() {
		g.VPTERNLOGD(operand.U8(0xf8), g.bcast(0xffff0000), odd, even) // even | odd & the constant
		g.VMOVDQU32(even, dst)
	} else {
		g.VPBLENDW(operand.U8(0xaa), odd, even, even)
		g.VMOVDQU(even, dst)
	}
}

// getBrain makes float32 of bfloat16.
func (g *gen) getBrain(m operand.Mem, masked bool, r reg.VecVirtual) {
	switch {
	case !masked:
		g.VPMOVZXWD(m, r)
	case g.wide():
		h := g.half()
		g.VMOVDQU16_Z(m, reg.K1, h)
		g.VPMOVZXWD(h, r)
	default:
		w := g.GP32()
		g.MOVWLZX(m, w)
		g.VMOVD(w, r.AsX())
	}
	g.VPSLLD(operand.U8(16), r, r)
}

// roundedBrain rounds float32 to bfloat16, ties to even, in the upper halves. A NaN has no bits that are dropped: it
// comes from one of bfloat16.
func (g *gen) roundedBrain(x reg.Register) reg.VecVirtual {
	t := g.v()
	g.VPSRLD(operand.U8(16), x, t)
	t = g.bin(g.and(), g.bcast(1), t)
	g.VPADDD(g.bcast(0x7fff), t, t)
	g.VPADDD(x, t, t)
	return t
}

// putBrain stores float32 as bfloat16.
func (g *gen) putBrain(masked bool, x reg.Register, m operand.Mem) {
	t := g.roundedBrain(x)
	g.VPSRLD(operand.U8(16), t, t)
	switch {
	case g.wide() && masked:
		g.VPMOVDW(t, reg.K1, m)
	case g.wide():
		g.VPMOVDW(t, m)
	case masked:
		w := g.GP32()
		g.VMOVD(t.AsX(), w)
		g.MOVW(w.As16(), m)
	default:
		upper := g.XMM()
		g.VEXTRACTI128(operand.U8(1), t, upper)
		g.VPACKUSDW(upper, t.AsX(), upper)
		g.VMOVDQU(upper, m)
	}
}

// named is a function's name before the suffixes: of halves after the first word.
func (g *gen) named(word, name string) string {
	switch {
	case g.brain:
		return word + "Brain" + name
	case g.size == 2:
		return word + "Half" + name
	}
	return word + name
}

// numbers is the signature of a function, whose operands are halves if g is of them.
func (g *gen) numbers(signature string) string {
	if g.size == 2 {
		return strings.ReplaceAll(signature, "*float32", "*uint16")
	}
	return signature
}

// unrolled is how many vectors a loop of few instructions takes at a time.
func (g *gen) unrolled(n int) int { return n * g.size / 4 }

// halves is the same functions of binary16, and brains of bfloat16.
func halves(f func(*gen)) func(*gen) {
	return func(g *gen) {
		g.size = 2
		f(g)
	}
}

func brains(f func(*gen)) func(*gen) {
	return func(g *gen) {
		g.size, g.brain = 2, true
		f(g)
	}
}

// bcastArg repeats a float32 parameter over a vector.
func (g *gen) bcastArg(name string) reg.VecVirtual {
	r := g.v()
	g.VBROADCASTSS(g.arg(name), r)
	return r
}

// ofBrains are the functions of bfloat16. Beside others it takes little to convert lines of numbers, or they are rare.
var ofBrains = []string{"Clamp", "LeakyRelu", "HardSwish", "HardSigmoid", "Abs", "Neg"}

func unary(g *gen) {
	type fn = func(x reg.Register, alpha, beta reg.Register) reg.Register
	ops := []struct {
		name   string
		unroll int
		f      fn
	}{
		{"Clamp", 4, func(x, a, b reg.Register) reg.Register { return g.clampTo(x, a, b) }},
		{"LeakyRelu", 4, func(x, a, _ reg.Register) reg.Register {
			return g.pick(x, g.f(0), g.bin(g.VMULPS, a, x), x)
		}},
		{"HardSwish", 4, func(x, _, _ reg.Register) reg.Register {
			c := g.clampTo(g.bin(g.VADDPS, g.f(3), x), g.f(0), g.f(6))
			return g.bin(g.VMULPS, g.bin(g.VMULPS, g.f(1.0/6), c), x)
		}},
		{"HardSigmoid", 4, func(x, a, b reg.Register) reg.Register {
			return g.clampTo(g.bin(g.VADDPS, b, g.bin(g.VMULPS, a, x)), g.f(0), g.f(1))
		}},
		{"Sigmoid", 1, func(x, _, _ reg.Register) reg.Register { return g.sigmoid(x) }},
		{"SiLU", 1, func(x, _, _ reg.Register) reg.Register { return g.bin(g.VMULPS, x, g.sigmoid(x)) }},
		{"Tanh", 1, func(x, _, _ reg.Register) reg.Register { return g.tanh(x) }},
		{"Exp", 1, func(x, _, _ reg.Register) reg.Register { return g.exp(x) }},
		{"Erf", 1, func(x, _, _ reg.Register) reg.Register { return g.erf(x) }},
		{"Gelu", 1, func(x, _, _ reg.Register) reg.Register { return g.gelu(x) }},
		{"GeluTanh", 1, func(x, _, _ reg.Register) reg.Register {
			z := g.bin(g.VMULPS, x, x)
			c := g.poly(z, 0x3d922279, 0x3fcc422a)                      // 2*sqrt(2/pi)*0.044715, 2*sqrt(2/pi)
			return g.bin(g.VMULPS, x, g.sigmoid(g.bin(g.VMULPS, c, x))) // (1+tanh(u))/2, which keeps its digits near 0
		}},
		{"Sqrt", 1, func(x, _, _ reg.Register) reg.Register {
			r := g.v()
			g.VSQRTPS(x, r)
			return r
		}},
		{"Rsqrt", 1, func(x, _, _ reg.Register) reg.Register {
			r := g.v()
			g.VSQRTPS(x, r)
			return g.bin(g.VDIVPS, r, g.mov(g.f(1)))
		}},
		{"Abs", 4, func(x, _, _ reg.Register) reg.Register { return g.abs(x) }},
		{"Neg", 4, func(x, _, _ reg.Register) reg.Register { return g.bin(g.xor(), g.bcast(signBit), x) }},
		{"Log", 1, func(x, _, _ reg.Register) reg.Register { return g.log(x) }},
		{"Softplus", 1, func(x, _, _ reg.Register) reg.Register { return g.softplus(x) }},
		{"Mish", 1, func(x, _, _ reg.Register) reg.Register { return g.mish(x) }},
		{"Elu", 1, func(x, a, _ reg.Register) reg.Register {
			return g.pick(x, g.f(0), g.bin(g.VMULPS, a, g.expm1(x)), x)
		}},
		{"Celu", 1, func(x, a, b reg.Register) reg.Register {
			return g.pick(x, g.f(0), g.bin(g.VMULPS, a, g.expm1(g.bin(g.VMULPS, b, x))), x)
		}},
		{"Selu", 1, func(x, a, b reg.Register) reg.Register {
			return g.pick(x, g.f(0), g.bin(g.VMULPS, a, g.expm1(x)), g.bin(g.VMULPS, b, x))
		}},
		{"Softsign", 1, func(x, _, _ reg.Register) reg.Register {
			return g.bin(g.VDIVPS, g.bin(g.VADDPS, g.f(1), g.abs(x)), x)
		}},
		{"Sign", 4, func(x, _, _ reg.Register) reg.Register {
			y := g.pick(x, g.f(0), g.mov(g.f(-1)), g.bin(g.VADDPS, g.f(0), x))
			return g.pick(g.mov(g.f(0)), x, g.mov(g.f(1)), y)
		}},
		{"Threshold", 4, func(x, a, _ reg.Register) reg.Register { return g.pick(a, x, x, g.mov(g.f(0))) }},
		{"Shrink", 1, func(x, a, b reg.Register) reg.Register {
			y := g.pick(a, x, g.bin(g.VSUBPS, b, x), g.mov(g.f(0)))
			return g.pick(x, g.bin(g.xor(), g.bcast(signBit), a), g.bin(g.VADDPS, b, x), y)
		}},
		{"Floor", 4, func(x, _, _ reg.Register) reg.Register { return g.round(x, 1) }},
		{"Ceil", 4, func(x, _, _ reg.Register) reg.Register { return g.round(x, 2) }},
		{"Round", 4, func(x, _, _ reg.Register) reg.Register { return g.round(x, 0) }},
	}
	for _, o := range ops {
		if g.brain && !slices.Contains(ofBrains, o.name) {
			continue
		}
		g.text(g.named("unary", o.name), g.numbers("func(dst, src *float32, n int, alpha, beta float32)"),
			fmt.Sprintf("is %s of [Unary] on n values; dst may be src.", o.name))
		var alpha, beta reg.Register
		switch o.name {
		case "Clamp", "HardSigmoid", "Celu", "Selu", "Shrink":
			alpha, beta = g.bcastArg("alpha"), g.bcastArg("beta")
		case "LeakyRelu", "Elu", "Threshold":
			alpha = g.bcastArg("alpha")
		}
		dst, src, n := g.loadArg("dst"), g.loadArg("src"), g.loadArg("n")
		walk := g.longStream
		if o.unroll > 1 {
			walk = func(n reg.GPVirtual, p []reg.GPVirtual, body func(int, bool)) {
				g.stream(n, g.unrolled(o.unroll), p, body)
			}
		}
		walk(n, []reg.GPVirtual{dst, src}, func(d int, masked bool) {
			g.apply(masked, at(dst, d), func(x ...reg.Register) reg.Register { return o.f(x[0], alpha, beta) }, at(src, d))
		})
		g.ret()
	}
}

func binary(g *gen) {
	// nanOf puts a back into r where a is NaN; the instructions give b's lane.
	nanOf := func(a, r reg.Register) reg.Register {
		if g.wide() {
			k := g.K()
			g.VCMPPS(operand.U8(predUnord), a, a, k)
			g.VMOVAPS(a, k, r)
			return r
		}
		m := g.v()
		g.VCMPPS(operand.U8(predUnord), a, a, m)
		return g.blend(m, a, r)
	}
	ops := []struct {
		name string
		f    func(a, b reg.Register) reg.Register
	}{
		{"Add", func(a, b reg.Register) reg.Register { return g.bin(g.VADDPS, b, a) }},
		{"Sub", func(a, b reg.Register) reg.Register { return g.bin(g.VSUBPS, b, a) }},
		{"Mul", func(a, b reg.Register) reg.Register { return g.bin(g.VMULPS, b, a) }},
		{"Div", func(a, b reg.Register) reg.Register { return g.bin(g.VDIVPS, b, a) }},
		{"Min", func(a, b reg.Register) reg.Register { return nanOf(a, g.bin(g.VMINPS, b, a)) }},
		{"Max", func(a, b reg.Register) reg.Register { return nanOf(a, g.bin(g.VMAXPS, b, a)) }},
	}
	for _, o := range ops {
		g.text(g.named("vv", o.name), g.numbers("func(dst, a, b *float32, n int)"),
			fmt.Sprintf("is %s of [BinaryVV] on n values; dst may be a or b.", o.name))
		dst, a, b, n := g.loadArg("dst"), g.loadArg("a"), g.loadArg("b"), g.loadArg("n")
		g.stream(n, g.unrolled(4), []reg.GPVirtual{dst, a, b}, func(d int, masked bool) {
			g.apply(masked, at(dst, d), func(x ...reg.Register) reg.Register { return o.f(x[0], x[1]) }, at(a, d), at(b, d))
		})
		g.ret()
		for _, swap := range []bool{false, true} {
			if g.brain && swap && (o.name == "Add" || o.name == "Mul") {
				continue // either way the same
			}
			name := "vs"
			if swap {
				name = "sv"
			}
			g.text(g.named(name, o.name), g.numbers("func(dst, a *float32, b float32, n int)"),
				fmt.Sprintf("is %s of [Binary%s%s] on n values; dst may be a.", o.name,
					map[bool]string{true: "S", false: "V"}[swap], map[bool]string{true: "V", false: "S"}[swap]))
			dst, a, n := g.loadArg("dst"), g.loadArg("a"), g.loadArg("n")
			s := g.bcastArg("b")
			g.stream(n, g.unrolled(4), []reg.GPVirtual{dst, a}, func(d int, masked bool) {
				g.apply(masked, at(dst, d), func(x ...reg.Register) reg.Register {
					if swap {
						return o.f(s, x[0])
					}
					return o.f(x[0], s)
				}, at(a, d))
			})
			g.ret()
		}
	}
}

// halfQuotient divides by a number without divisions. The product with the reciprocal r, corrected by its remainder, is
// the quotient of float32 for every finite divisor of binary16 but 0.
func halfQuotient(g *gen) {
	g.text("vsHalfQuotient", "func(dst, a *uint16, b, r float32, n int)",
		"is a/b on n values, where r is 1/b in float32; dst may be a.")
	dst, a, n := g.loadArg("dst"), g.loadArg("a"), g.loadArg("n")
	b, r := g.bcastArg("b"), g.bcastArg("r")
	g.stream(n, 2, []reg.GPVirtual{dst, a}, func(d int, masked bool) {
		x := g.get(at(a, d), masked)
		q := g.bin(g.VMULPS, r, x)
		g.VFNMADD231PS(b, q, x)
		if g.wide() { // nothing is added where nothing is left, or where a is infinite or NaN
			g.VCMPPS(operand.U8(12), g.f(0), x, reg.K2) // not equal, and no NaN
			g.VFMADD231PS(r, x, reg.K2, q)
		} else {
			m, y := g.v(), g.mov(q)
			g.VCMPPS(operand.U8(12), g.f(0), x, m)
			g.VFMADD231PS(r, x, y)
			q = g.blend(m, y, q)
		}
		g.put(masked, q, at(dst, d))
	})
	g.ret()
}

// blend is mask ? yes : no for AVX2.
func (g *gen) blend(mask, yes, no reg.Register) reg.VecVirtual {
	r := g.v()
	g.VBLENDVPS(mask, yes, no, r)
	return r
}
