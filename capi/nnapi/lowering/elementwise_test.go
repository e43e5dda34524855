package lowering

import (
	"math"
	"testing"

	"github.com/anynpu/anynpu/core/spec/nnapi"
	"github.com/anynpu/anynpu/core/tensor"
)

// form is one representation of real numbers: how they are stored, and back.
type form struct {
	name  string
	code  nnapi.OperandCode
	scale float32
	zero  int32
}

// forms are representations with which inputs between -4 and 4 keep a step of 1/32.
var forms = []form{{"float32", nnapi.TensorFloat32, 0, 0}, {"float16", nnapi.TensorFloat16, 0, 0},
	{"asymmetric uint8", nnapi.TensorQuant8Asymm, 1. / 32, 128}, {"asymmetric int8", nnapi.TensorQuant8AsymmSigned,
		1. / 32, -3}}

func (f form) quantized() bool { return f.scale != 0 }

// put stores real numbers; codes saturate, halves are rounded away from zero.
func (f form) put(v []float64, dims ...uint32) arg {
	a := arg{Operand: nnapi.Operand{Type: f.code, Dims: dims, Scale: f.scale, ZeroPoint: f.zero},
		values: make([]float64, len(v))}
	for i, x := range v {
		a.values[i] = f.store(x)
	}
	return a
}

func (f form) store(x float64) float64 {
	switch f.code {
	case nnapi.TensorFloat32:
		return float64(float32(x))
	case nnapi.TensorFloat16:
		return float64(tensor.Float16To32(tensor.Float32To16(float32(x))))
	}
	lo, hi := tensor.IntLimits(f.code.DType())
	return min(max(math.Round(x/float64(f.scale))+float64(f.zero), float64(lo)), float64(hi))
}

// want is put for results: codes are not rounded, so that a result may be on either side of a half, and no further
// away.
func (f form) want(v []float64, dims ...uint32) arg {
	a := f.put(v, dims...)
	if f.quantized() {
		lo, hi := tensor.IntLimits(f.code.DType())
		for i, x := range v {
			a.values[i] = min(max(x/float64(f.scale)+float64(f.zero), float64(lo)), float64(hi))
		}
		a.half = true
	}
	return a
}

// reals are the numbers that an operand stands for.
func reals(a arg) []float64 {
	out := make([]float64, len(a.values))
	for i, v := range a.values {
		out[i] = v
		if a.Scale != 0 {
			out[i] = (v - float64(a.ZeroPoint)) * float64(a.Scale)
		}
	}
	return out
}

// scalar is a float scalar in the width of f.
func (f form) scalar(v float64) arg {
	a := real(v)
	if f.code == nnapi.TensorFloat16 {
		a.Type = nnapi.Float16
	}
	return a
}

func mapped(v []float64, f func(x float64) float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = f(x)
	}
	return out
}

func clip(lo, hi float64) func(float64) float64 {
	return func(x float64) float64 { return min(max(x, lo), hi) }
}

func TestUnary(t *testing.T) {
	inf := math.Inf(1)
	for _, f := range forms {
		same := f
		unit := f
		signed := f
		coarse := f
		if f.quantized() {
			unit.scale, signed.scale, coarse.scale = 1./256, 1./128, 1./16
			unit.zero, signed.zero = 0, 128
			if f.code == nnapi.TensorQuant8AsymmSigned {
				unit.zero, signed.zero = -128, 0
			}
		}
		x := f.put(noise(1, 24, -3.9, 3.9), 2, 3, 4)
		p := f.put(noise(2, 24, 0.1, 3.5), 2, 3, 4)
		for _, c := range []struct {
			code   nnapi.OperationCode
			in     arg
			more   []arg
			out    form
			f      func(x float64) float64
			floats bool
		}{
			{nnapi.ReLU, x, nil, same, clip(0, inf), false},
			{nnapi.ReLU1, x, nil, same, clip(-1, 1), false},
			{nnapi.ReLU6, x, nil, same, clip(0, 6), false},
			{nnapi.ReLU6, f.put(noise(3, 4, 2, 9), 4), nil, same, clip(0, 6), false},
			{nnapi.Logistic, x, nil, unit, func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }, false},
			{nnapi.Tanh, x, nil, signed, math.Tanh, false},
			{nnapi.HardSwish, x, nil, coarse, func(x float64) float64 { return x * clip(0, 6)(x+3) / 6 }, false},
			{nnapi.ELU, x, []arg{f.scalar(0.75)}, same, func(x float64) float64 {
				if x > 0 {
					return x
				}
				return 0.75 * (math.Exp(x) - 1)
			}, true},
			{nnapi.Floor, x, nil, same, math.Floor, true},
			{nnapi.Abs, x, nil, same, math.Abs, true},
			{nnapi.Exp, x, nil, same, math.Exp, true},
			{nnapi.Log, p, nil, same, math.Log, true},
			{nnapi.Neg, x, nil, same, func(x float64) float64 { return -x }, true},
			{nnapi.Rsqrt, p, nil, coarse, func(x float64) float64 { return 1 / math.Sqrt(x) }, false},
			{nnapi.Sin, x, nil, same, math.Sin, true},
			{nnapi.Sqrt, p, nil, same, math.Sqrt, true},
		} {
			if c.floats && f.quantized() {
				continue
			}
			y := c.out.want(mapped(reals(c.in), c.f), c.in.Dims...)
			check{f.name, c.code, append([]arg{c.in}, c.more...), []arg{y}, 0}.run(t)
		}
	}
	v := v1(-3, 0, 7, math.MaxInt32)
	check{"integers", nnapi.Abs, []arg{i32(v, 4)}, []arg{i32(v1(3, 0, 7, math.MaxInt32), 4)}, 0}.run(t)
	check{"integers", nnapi.Neg, []arg{i32(v, 4)}, []arg{i32(v1(3, 0, -7, -math.MaxInt32), 4)}, 0}.run(t)
	check{"bool", nnapi.LogicalNot, []arg{b8(v1(1, 0, 0, 1), 2, 2)}, []arg{b8(v1(0, 1, 1, 0), 2, 2)}, 0}.run(t)
	check{"infinite", nnapi.Rsqrt, []arg{u8(1, 3, v1(3, 4, 7), 3)}, []arg{u8(0.25, 1, v1(255, 5, 3), 3)}, 0}.run(t)
	for _, a := range []arg{f32(v1(1, 2, 3), 3, 1, 1), u8(1, 0, v1(1), 1, 1, 1), b8(v1(1, 0), 2, 1, 1)} {
		rank := arg{Operand: nnapi.Operand{Type: nnapi.Int32}, values: v1(3)}
		check{"three", nnapi.Rank, []arg{a}, []arg{rank}, 0}.run(t)
	}
}

func TestQuantizeAndCast(t *testing.T) {
	x := v1(-1.1, -0.8, 0.3, 0.5, 100)
	for _, in := range forms[:2] {
		check{in.name, nnapi.Quantize, []arg{in.put(x, 5)}, []arg{u8(0.5, 10, v1(8, 8, 11, 11, 210), 5)}, 0}.run(t)
		check{in.name + " to int8", nnapi.Quantize, []arg{in.put(x, 5)}, []arg{s8(0.5, -10, v1(-12, -12, -9, -9, 127), 5)},
			0}.run(t)
		out := func(v ...float64) arg { return in.put(v, 4) }
		codes := v1(0, 3, 100, 127)
		check{"uint8 to " + in.name, nnapi.Dequantize, []arg{u8(0.5, 3, codes, 4)}, []arg{out(-1.5, 0, 48.5, 62)}, 0}.run(t)
		check{"int8 to " + in.name, nnapi.Dequantize, []arg{s8(0.5, -3, v1(-128, -3, 0, 127), 4)},
			[]arg{out(-62.5, 0, 1.5, 65)}, 0}.run(t)
		check{"symmetric to " + in.name, nnapi.Dequantize, []arg{quant(nnapi.TensorQuant8Symm, 0.25, 0, v1(-127, 0, 4, 127),
			4)},
			[]arg{out(-31.75, 0, 1, 31.75)}, 0}.run(t)
		channels := quant(nnapi.TensorQuant8SymmPerChannel, 0, 0, v1(-4, 2, 3, 127), 2, 2)
		channels.Channel = &nnapi.PerChannel{Dim: 1, Scales: []float32{0.5, 0.25}}
		check{"channels to " + in.name, nnapi.Dequantize, []arg{channels}, []arg{in.put(v1(-2, 0.5, 1.5, 31.75), 2, 2)},
			0}.run(t)
	}
	for _, c := range []struct {
		name    string
		in, out arg
	}{
		{"float32 to int32", f32(v1(-2.9, 2.9, 0.5, 7), 4), i32(v1(-2, 2, 0, 7), 4)},
		{"float32 to codes", f32(v1(-2.9, 2.9, 300, 7), 4), u8(0.1, 5, v1(0, 2, 255, 7), 4)},
		{"codes to float32", u8(0.1, 5, v1(0, 2, 255, 7), 4), f32(v1(0, 2, 255, 7), 4)},
		{"codes to int32", u8(0.1, 5, v1(0, 2, 255, 7), 4), i32(v1(0, 2, 255, 7), 4)},
		{"codes to codes", u8(0.1, 5, v1(0, 2, 255, 7), 4), u8(0.7, 9, v1(0, 2, 255, 7), 4)},
		{"int32 to codes", i32(v1(-1, 2, 256, 7), 4), u8(0.7, 9, v1(0, 2, 255, 7), 4)},
		{"int32 to float16", i32(v1(-1, 2, 256, 2049), 4), forms[1].put(v1(-1, 2, 256, 2048), 4)},
		{"float16 to int32", forms[1].put(v1(-1.5, 2, 256.5, 7), 4), i32(v1(-1, 2, 256, 7), 4)},
		{"float32 to float16", f32(v1(-1.5, 2049, 256, 7), 4), forms[1].put(v1(-1.5, 2048, 256, 7), 4)},
		{"bool", b8(v1(1, 0), 2), b8(v1(1, 0), 2)},
		{"symmetric int16", quant(nnapi.TensorQuant16Symm, 1, 0, v1(-5, 6), 2), quant(nnapi.TensorQuant16Symm, 1, 0,
			v1(-5, 6), 2)},
		{"int8 of other scale", s8(1, 3, v1(-5, 6), 2), s8(2, 1, v1(-5, 6), 2)},
	} {
		check{c.name, nnapi.Cast, []arg{c.in}, []arg{c.out}, 1e-9}.run(t)
	}
}

// broadcastIndex returns the place in an operand of sizes d of element k of a result of sizes out.
func broadcastIndex(k int, d, out []uint32) int {
	i, stride := 0, 1
	for a := len(out) - 1; a >= 0; a-- {
		at := k % int(out[a])
		k /= int(out[a])
		if b := a - len(out) + len(d); b >= 0 {
			if d[b] != 1 {
				i += at * stride
			}
			stride *= int(d[b])
		}
	}
	return i
}

// each2 computes a result of sizes dims, element for element.
func each2(a, b arg, dims []uint32, f func(x, y float64) float64) []float64 {
	n := 1
	for _, d := range dims {
		n *= int(d)
	}
	x, y := reals(a), reals(b)
	out := make([]float64, n)
	for k := range out {
		out[k] = f(x[broadcastIndex(k, a.Dims, dims)], y[broadcastIndex(k, b.Dims, dims)])
	}
	return out
}

var activations = []func(float64) float64{func(x float64) float64 { return x }, clip(0, math.Inf(1)), clip(-1, 1),
	clip(0, 6)}

func TestArithmetic(t *testing.T) {
	add := func(x, y float64) float64 { return x + y }
	sub := func(x, y float64) float64 { return x - y }
	mul := func(x, y float64) float64 { return x * y }
	div := func(x, y float64) float64 { return x / y }
	shapes := [][3][]uint32{{{2, 3}, {2, 3}, {2, 3}}, {{2, 1, 3}, {4, 1}, {2, 4, 3}}, {{3}, {1, 2, 2, 3}, {1, 2, 2, 3}}}
	count := func(d []uint32) int {
		n := 1
		for _, x := range d {
			n *= int(x)
		}
		return n
	}
	for _, f := range forms {
		out := f
		if f.quantized() {
			out.scale = 1. / 16
		}
		for i, s := range shapes {
			a := f.put(noise(int64(i), count(s[0]), -3, 3), s[0]...)
			b := f.put(noise(int64(i+10), count(s[1]), 0.5, 3), s[1]...)
			for act, g := range activations {
				for _, c := range []struct {
					code nnapi.OperationCode
					f    func(x, y float64) float64
				}{{nnapi.Add, add}, {nnapi.Sub, sub}, {nnapi.Mul, mul}, {nnapi.Div, div}} {
					if c.code == nnapi.Div && f.quantized() {
						continue
					}
					y := out.want(mapped(each2(a, b, s[2], c.f), g), s[2]...)
					check{f.name, c.code, []arg{a, b, num(float64(act))}, []arg{y}, 0}.run(t)
				}
			}
		}
	}
	a, b := i32(v1(7, -7, 8, math.MaxInt32), 2, 2), i32(v1(2, -3), 2)
	none := num(0)
	check{"integers", nnapi.Add, []arg{a, b, none}, []arg{i32(v1(9, -10, 10, math.MaxInt32-3), 2, 2)}, 0}.run(t)
	check{"integers", nnapi.Sub, []arg{a, b, none}, []arg{i32(v1(5, -4, 6, math.MinInt32+2), 2, 2)}, 0}.run(t)
	check{"integers", nnapi.Mul, []arg{i32(v1(7, -7), 2), b, none}, []arg{i32(v1(14, 21), 2)}, 0}.run(t)
	check{"integers rounded down", nnapi.Div, []arg{i32(v1(7, -7, -7, 7), 4), i32(v1(2, 2, -2, -2), 4), none},
		[]arg{i32(v1(3, -4, 3, -4), 4)}, 0}.run(t)
	refused(t, check{"", nnapi.Add, []arg{a, b, num(1)}, []arg{a}, 0}, "integers have no fused activation")
	refused(t, check{"", nnapi.Add, []arg{f32(nil, 1), f32(nil, 1), num(4)}, []arg{f32(nil, 1)}, 0}, "want 0 to 3, got 4")
	refused(t, check{"", nnapi.Add, []arg{f32(nil, 2), f32(nil, 3), num(0)}, []arg{f32(nil, 3)}, 0},
		"operation 0 (ADD): inputs (float32[2], float32[3]): input 0 (input0) and input 1 (input1)")
	refused(t, check{"", nnapi.Add, []arg{f32(nil, 2), f32(nil, 2), num(0)}, []arg{f32(nil, 3)}, 0}, "[3]")
	check{"by zero", nnapi.Div, []arg{i32(v1(7, -7, 0, 5), 2, 2), i32(v1(0, 3), 2), none},
		[]arg{i32(v1(0, -3, 0, 1), 2, 2)}, 0}.run(t)
	refused(t, check{"", nnapi.Div, []arg{a, b, num(1)}, []arg{a}, 0}, "integers have no fused activation")
}

func TestPairs(t *testing.T) {
	pow := math.Pow
	for _, f := range forms {
		out, other := f, f
		if f.quantized() {
			out.scale, other.scale, other.zero = 1./16, 1./64, f.zero+7
		}
		a, b := f.put(noise(4, 12, -2, 2), 2, 2, 3), other.put(noise(5, 3, -1.5, 1), 3)
		dims := []uint32{2, 2, 3}
		check{f.name, nnapi.Maximum, []arg{a, b}, []arg{out.want(each2(a, b, dims, math.Max), dims...)}, 0}.run(t)
		check{f.name, nnapi.Minimum, []arg{b, a}, []arg{out.want(each2(a, b, dims, math.Min), dims...)}, 0}.run(t)
		prelu := func(x, y float64) float64 {
			if x >= 0 {
				return x
			}
			return x * y
		}
		check{f.name, nnapi.PReLU, []arg{a, b}, []arg{out.want(each2(a, b, dims, prelu), dims...)}, 0}.run(t)
		check{f.name + " wide slope", nnapi.PReLU, []arg{b, a}, []arg{out.want(each2(b, a, dims, prelu), dims...)}, 0}.run(t)
		if !f.quantized() {
			p := f.put(noise(6, 12, 0.1, 2), 2, 2, 3)
			check{f.name, nnapi.Pow, []arg{p, b}, []arg{f.put(each2(p, b, dims, pow), dims...)}, 0}.run(t)
		}
		cond := b8(v1(1, 0, 0, 1, 1, 0), 2, 3)
		x, y := f.put(noise(7, 6, -2, 2), 2, 3), other.put(noise(8, 6, -1.5, 1), 2, 3)
		picked := make([]float64, 6)
		for i, c := range cond.values {
			picked[i] = reals(y)[i]
			if c != 0 {
				picked[i] = reals(x)[i]
			}
		}
		check{f.name, nnapi.Select, []arg{cond, x, y}, []arg{out.want(picked, 2, 3)}, 0}.run(t)
		cmp := func(f func(x, y float64) bool) func(x, y float64) float64 {
			return func(x, y float64) float64 {
				if f(x, y) {
					return 1
				}
				return 0
			}
		}
		c, d := f.put(v1(-1, 0.5, 2, 1, 0, -0.5), 2, 3), other.put(v1(-1, 0.5, 0), 3)
		sizes := []uint32{2, 3}
		for _, e := range []struct {
			code nnapi.OperationCode
			f    func(x, y float64) bool
		}{{nnapi.Equal, func(x, y float64) bool { return x == y }},
			{nnapi.NotEqual, func(x, y float64) bool { return x != y }},
			{nnapi.Greater, func(x, y float64) bool { return x > y }},
			{nnapi.GreaterEqual, func(x, y float64) bool { return x >= y }},
			{nnapi.Less, func(x, y float64) bool { return x < y }},
			{nnapi.LessEqual, func(x, y float64) bool { return x <= y }}} {
			check{f.name, e.code, []arg{c, d}, []arg{b8(each2(c, d, sizes, cmp(e.f)), sizes...)}, 0}.run(t)
		}
	}
	i, j := i32(v1(5, -2, math.MaxInt32), 3), i32(v1(3), 1)
	check{"integers", nnapi.Maximum, []arg{i, j}, []arg{i32(v1(5, 3, math.MaxInt32), 3)}, 0}.run(t)
	check{"integers", nnapi.Minimum, []arg{i, j}, []arg{i32(v1(3, -2, 3), 3)}, 0}.run(t)
	check{"integers", nnapi.Less, []arg{i, j}, []arg{b8(v1(0, 1, 0), 3)}, 0}.run(t)
	check{"integers", nnapi.Equal, []arg{i, i32(v1(math.MaxInt32), 1)}, []arg{b8(v1(0, 0, 1), 3)}, 0}.run(t)
	check{"integers", nnapi.Select, []arg{b8(v1(1, 0, 1), 3), i, i32(v1(1, 2, 3), 3)},
		[]arg{i32(v1(5, 2, math.MaxInt32), 3)}, 0}.run(t)
	p, q := b8(v1(1, 1, 0, 0), 4), b8(v1(1, 0, 1, 0), 4)
	check{"truth table", nnapi.LogicalAnd, []arg{p, q}, []arg{b8(v1(1, 0, 0, 0), 4)}, 0}.run(t)
	check{"truth table", nnapi.LogicalOr, []arg{p, q}, []arg{b8(v1(1, 1, 1, 0), 4)}, 0}.run(t)
	check{"truth table", nnapi.Equal, []arg{p, q}, []arg{b8(v1(1, 0, 0, 1), 4)}, 0}.run(t)
	refused(t, check{"", nnapi.Select, []arg{b8(nil, 2), f32(nil, 2), f32(nil, 1)}, []arg{f32(nil, 2)}, 0},
		"input 2 (input2): want dimensions [2]")
}
