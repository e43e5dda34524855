package ohnn

import (
	"math"

	"github.com/anynpu/anynpu/core/op"
	spec "github.com/anynpu/anynpu/core/spec/ohnn"
	"github.com/anynpu/anynpu/core/tensor"
)

// lowerings holds, by the name of a core operator, how a node becomes operations: each returns what stands against it.
var lowerings = map[string]func(t *translation) error{}

func register(m map[string]func(t *translation) error) {
	for name, f := range m {
		lowerings[name] = f
	}
}

func init() {
	register(map[string]func(t *translation) error{
		"add":                pair("ADD"),
		"sub":                pair("SUB"),
		"mul":                pair("MUL"),
		"div":                lowerDiv,
		"max":                lowerMax,
		"min":                lowerMin,
		"squared_difference": pair("SQUARED_DIFFERENCE"),
		"pow":                pair("POW"),
		"mod":                lowerMod,
		"equal":              pair("EQUAL"),
		"not_equal":          pair("NOT_EQUAL"),
		"less":               pair("LESS"),
		"less_equal":         pair("LESS_EQUAL"),
		"greater":            pair("GREATER"),
		"greater_equal":      pair("GREATER_EQUAL"),
		"and":                logical("LOGICAL_AND"),
		"or":                 logical("LOGICAL_OR"),
		"not":                logical("LOGICAL_NOT"),
		"abs":                single("ABS"),
		"neg":                single("NEG"),
		"ceil":               single("CEIL"),
		"floor":              single("FLOOR"),
		"round":              lowerRound,
		"sqrt":               single("SQRT"),
		"rsqrt":              single("RSQRT"),
		"reciprocal":         single("RECIPROCAL"),
		"square":             single("SQUARE"),
		"log":                single("LOG"),
		"sin":                single("SIN"),
		"cos":                single("COS"),
		"erf":                single("ERF"),
		"sigmoid":            single("SIGMOID"),
		"tanh":               single("TANH"),
		"relu":               single("RELU"),
		"hard_swish":         single("HSWISH"),
		"hard_sigmoid":       lowerHardSigmoid,
		"swish":              lowerSwish,
		"leaky_relu":         lowerLeakyRelu,
		"gelu":               lowerGelu,
		"exp":                lowerExp,
		"clip":               lowerClip,
		"cast":               lowerCast,
		"where":              lowerWhere,
	})
}

// pair is an operator of two operands that are numbers.
func pair(name string) func(t *translation) error {
	return func(t *translation) error {
		for k := range t.N.In {
			if t.In(k).typ.DType == tensor.Bool {
				return refuse("its operands are bools: %s is of numbers", name)
			}
		}
		t.add(name, t.Ins(), t.Outs())
		return nil
	}
}

func logical(name string) func(t *translation) error {
	return func(t *translation) error {
		t.add(name, t.Ins(), t.Outs())
		return nil
	}
}

// single is an operator of one operand.
func single(name string, settings ...setting) func(t *translation) error {
	return func(t *translation) error {
		if t.In(0).typ.DType == tensor.Bool {
			return refuse("its operand is a bool: %s is of numbers", name)
		}
		t.Each(t.In(0), t.Out(0), func(x, y *operand) { t.add(name, []*operand{x}, []*operand{y}, settings...) })
		return nil
	}
}

func lowerDiv(t *translation) error {
	if d := t.In(0).typ; d.Quant == nil && d.DType.IsInt() && t.N.Op.(*op.Div).Rounding != op.DivTrunc {
		return refuse("integer quotients of DIV truncate toward zero")
	}
	return pair("DIV")(t)
}

func lowerMod(t *translation) error {
	if t.N.Op.(*op.Mod).Sign != op.ModDividend {
		return refuse("the result of MOD has the sign of the dividend")
	}
	return pair("MOD")(t)
}

func lowerMax(t *translation) error {
	if t.N.Op.(*op.Max).NaN != op.NaNPropagates {
		return refuse("a NaN is to lose: in MAXIMUM it does not")
	}
	return pair("MAXIMUM")(t)
}

func lowerMin(t *translation) error {
	if t.N.Op.(*op.Min).NaN != op.NaNPropagates {
		return refuse("a NaN is to lose: in MINIMUM it does not")
	}
	return pair("MINIMUM")(t)
}

func lowerRound(t *translation) error {
	if t.N.Op.(*op.Round).Ties != op.RoundEven {
		return refuse("ROUND rounds halves to even")
	}
	return single("ROUND")(t)
}

func lowerHardSigmoid(t *translation) error {
	if o := t.N.Op.(*op.HardSigmoid); o.Alpha != 1.0/6 || o.Beta != 0.5 {
		return refuse("HARD_SIGMOID has slope 1/6 and 0.5 at 0, not %v and %v", o.Alpha, o.Beta)
	}
	return single("HARD_SIGMOID")(t)
}

func lowerSwish(t *translation) error {
	if a := t.N.Op.(*op.Swish).Alpha; a != 0 && a != 1 {
		return refuse("SWISH has no factor %v", a)
	}
	return single("SWISH")(t)
}

func lowerLeakyRelu(t *translation) error {
	return single("LEAKY_RELU", number("NEGATIVE_SLOPE", t.N.Op.(*op.LeakyRelu).Alpha))(t)
}

func lowerGelu(t *translation) error {
	return single("GELU", flag("APPROXIMATE", t.N.Op.(*op.Gelu).Approximate == op.GeluTanh))(t)
}

func lowerExp(t *translation) error {
	o := t.N.Op.(*op.Exp)
	base, scale := o.Base, o.Scale
	if base == 0 {
		base = -1
	}
	if scale == 0 {
		scale = 1
	}
	return single("EXP", number("BASE", base), number("SCALE", scale), number("SHIFT", o.Shift))(t)
}

// lowerClip knows bounds that are constants.
func lowerClip(t *translation) error {
	var bounds [2]float32
	for i := range bounds {
		b := t.In(i + 1)
		switch {
		case b == nil:
			return refuse("CLIP has two bounds")
		case b.data == nil || b.typ.DType != tensor.Float32:
			return refuse("the bounds of CLIP are constants of float32")
		}
		v, err := tensor.ReadFloat32s(b.data, 1)
		if err != nil || math.IsNaN(float64(v[0])) {
			return refuse("a bound of CLIP is no number")
		}
		bounds[i] = v[0]
	}
	if bounds[0] > bounds[1] {
		return refuse("the lower bound is above the upper one")
	}
	if bounds == [2]float32{0, 6} {
		return single("RELU6")(t)
	}
	return single("CLIP", number("MAX", bounds[1]), number("MIN", bounds[0]))(t)
}

func lowerCast(t *translation) error {
	o, x := t.N.Op.(*op.Cast), t.In(0)
	switch {
	case x.typ.Quant != nil:
		return refuse("CAST takes no codes")
	case x.typ.DType.IsFloat() && o.To.IsInt() && o.OutOfRange != op.CastSaturate:
		return refuse("CAST from real numbers to integers stops at the largest")
	case o.To.IsInt() && x.typ.DType.IsInt() && o.OutOfRange != op.CastWrap:
		return refuse("CAST of integers drops what the type cannot hold")
	}
	t.add("CAST", []*operand{x, list(int64(spec.DataTypeOf(o.To)))}, t.Outs())
	return nil
}

// lowerWhere: a condition of one dimension would choose slices.
func lowerWhere(t *translation) error {
	if c := len(t.In(0).Dims()); c == 1 && len(t.In(1).Dims()) > 1 {
		return refuse("the condition of SELECT would choose slices")
	}
	t.add("SELECT", t.Ins(), t.Outs())
	return nil
}
