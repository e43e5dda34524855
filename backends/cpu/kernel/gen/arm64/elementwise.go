package main

import (
	"fmt"
	"slices"
)

// ofBrains are the functions of bfloat16. Beside others it takes little to convert lines of numbers, or they are rare.
var ofBrains = []string{"Clamp", "LeakyRelu", "HardSwish", "HardSigmoid", "Abs", "Neg"}

func unary(g *gen) {
	if g.isa != neon {
		return
	}
	type fn = func(x, alpha, beta *reg) *reg
	ops := []struct {
		name   string
		unroll int
		f      fn
	}{
		{"Clamp", 4, func(x, a, b *reg) *reg { return g.clampKept(x, a, b) }},
		{"LeakyRelu", 4, func(x, a, _ *reg) *reg { return g.pick(x, g.f(0), g.mul(x, a), x) }},
		{"HardSwish", 4, func(x, _, _ *reg) *reg {
			return g.mul(x, g.mul(g.clampTo(g.add(x, g.f(3)), g.f(0), g.f(6)), g.f(1.0/6)))
		}},
		{"HardSigmoid", 4, func(x, a, b *reg) *reg { return g.clampTo(g.add(g.mul(x, a), b), g.f(0), g.f(1)) }},
		{"Sigmoid", 1, func(x, _, _ *reg) *reg { return g.sigmoid(x) }},
		{"SiLU", 1, func(x, _, _ *reg) *reg { return g.mul(x, g.sigmoid(x)) }},
		{"Tanh", 1, func(x, _, _ *reg) *reg { return g.tanh(x) }},
		{"Exp", 1, func(x, _, _ *reg) *reg { return g.exp(x) }},
		{"Erf", 1, func(x, _, _ *reg) *reg { return g.erf(x) }},
		{"Gelu", 1, func(x, _, _ *reg) *reg { return g.gelu(x) }},
		{"GeluTanh", 1, func(x, _, _ *reg) *reg {
			c := g.poly(g.mul(x, x), 0x3d922279, 0x3fcc422a) // 2*sqrt(2/pi)*0.044715, 2*sqrt(2/pi)
			return g.mul(x, g.sigmoid(g.mul(x, c)))          // (1+tanh(u))/2, which keeps its digits near 0
		}},
		{"Sqrt", 1, func(x, _, _ *reg) *reg { return g.op("fsqrt.4s", x) }},
		{"Rsqrt", 1, func(x, _, _ *reg) *reg { return g.div(g.f(1), g.op("fsqrt.4s", x)) }},
		{"Abs", 4, func(x, _, _ *reg) *reg { return g.abs(x) }},
		{"Neg", 4, func(x, _, _ *reg) *reg { return g.op("fneg.4s", x) }},
		{"Log", 1, func(x, _, _ *reg) *reg { return g.log(x) }},
		{"Softplus", 1, func(x, _, _ *reg) *reg { return g.softplus(x) }},
		{"Mish", 1, func(x, _, _ *reg) *reg { return g.mish(x) }},
		{"Elu", 1, func(x, a, _ *reg) *reg { return g.pick(x, g.f(0), g.mul(g.expm1(x), a), x) }},
		{"Celu", 1, func(x, a, b *reg) *reg { return g.pick(x, g.f(0), g.mul(g.expm1(g.mul(x, b)), a), x) }},
		{"Selu", 1, func(x, a, b *reg) *reg { return g.pick(x, g.f(0), g.mul(g.expm1(x), a), g.mul(x, b)) }},
		{"Softsign", 1, func(x, _, _ *reg) *reg { return g.div(x, g.add(g.abs(x), g.f(1))) }},
		{"Sign", 4, func(x, _, _ *reg) *reg {
			return g.pick(g.f(0), x, g.f(1), g.pick(x, g.f(0), g.f(-1), g.add(x, g.f(0))))
		}},
		{"Threshold", 4, func(x, a, _ *reg) *reg { return g.pick(a, x, x, g.f(0)) }},
		{"Shrink", 1, func(x, a, b *reg) *reg {
			y := g.pick(a, x, g.sub(x, b), g.f(0))
			return g.pick(x, g.op("fneg.4s", a), g.add(x, b), y)
		}},
		{"Floor", 4, func(x, _, _ *reg) *reg { return g.op("frintm.4s", x) }},
		{"Ceil", 4, func(x, _, _ *reg) *reg { return g.op("frintp.4s", x) }},
		{"Round", 4, func(x, _, _ *reg) *reg { return g.op("frintn.4s", x) }},
	}
	for _, o := range ops {
		if g.brain && !slices.Contains(ofBrains, o.name) {
			continue
		}
		g.function(g.named("unary", o.name), g.numbers("func(dst, src *float32, n int, alpha, beta float32)"),
			fmt.Sprintf("is %s of [Unary] on n values; dst may be src.", o.name))
		var alpha, beta *reg
		switch o.name {
		case "Clamp", "HardSigmoid", "Celu", "Selu", "Shrink":
			alpha, beta = g.every("alpha"), g.every("beta")
		case "LeakyRelu", "Elu", "Threshold":
			alpha = g.every("alpha")
		}
		dst, src, n := g.arg("dst"), g.arg("src"), g.arg("n")
		g.stream(n, o.unroll, []*reg{dst, src}, func(at, lanes int) {
			g.store(lanes, o.f(g.load(lanes, src, at, g.vec()), alpha, beta), dst, at)
		})
		g.end()
	}
}

func binary(g *gen) {
	if g.isa != neon {
		return
	}
	for _, name := range []string{"Add", "Sub", "Mul", "Div", "Min", "Max"} {
		op := map[string]string{"Add": "fadd.4s", "Sub": "fsub.4s", "Mul": "fmul.4s", "Div": "fdiv.4s", "Min": "fmin.4s",
			"Max": "fmax.4s"}[name]
		g.function(g.named("vv", name), g.numbers("func(dst, a, b *float32, n int)"),
			fmt.Sprintf("is %s of [BinaryVV] on n values; dst may be a or b.", name))
		dst, a, b, n := g.arg("dst"), g.arg("a"), g.arg("b"), g.arg("n")
		g.stream(n, 4, []*reg{dst, a, b}, func(at, lanes int) {
			g.store(lanes, g.op(op, g.load(lanes, a, at, g.vec()), g.load(lanes, b, at, g.vec())), dst, at)
		})
		g.end()
		for _, swap := range []bool{false, true} {
			if g.brain && swap && (name == "Add" || name == "Mul") {
				continue // either way the same
			}
			kind, of := "vs", "BinaryVS"
			if swap {
				kind, of = "sv", "BinarySV"
			}
			g.function(g.named(kind, name), g.numbers("func(dst, a *float32, b float32, n int)"),
				fmt.Sprintf("is %s of [%s] on n values; dst may be a.", name, of))
			dst, a, n, s := g.arg("dst"), g.arg("a"), g.arg("n"), g.every("b")
			g.stream(n, 4, []*reg{dst, a}, func(at, lanes int) {
				x := g.load(lanes, a, at, g.vec())
				if swap {
					g.store(lanes, g.op(op, s, x), dst, at)
				} else {
					g.store(lanes, g.op(op, x, s), dst, at)
				}
			})
			g.end()
		}
	}
}

// halfQuotient divides by a number without divisions, as on amd64.
func halfQuotient(g *gen) {
	if g.isa != neon {
		return
	}
	g.function("vsHalfQuotient", "func(dst, a *uint16, b, r float32, n int)",
		"is a/b on n values, where r is 1/b in float32; dst may be a.")
	dst, a, n, b, r := g.arg("dst"), g.arg("a"), g.arg("n"), g.every("b"), g.every("r")
	zero := g.v("movi.16b", g.vec(), 0)
	g.stream(n, 2, []*reg{dst, a}, func(at, lanes int) {
		x := g.load(lanes, a, at, g.vec())
		q := g.mul(x, r)
		left := g.fnma(x, q, b)
		some := g.op("fcmgt.4s", g.abs(left), zero) // nothing is added where a is infinite or NaN
		g.store(lanes, g.v("bsl.16b", some, g.fma(q, left, r), q), dst, at)
	})
	g.end()
}
