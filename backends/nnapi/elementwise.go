package nnapi

import (
	"math"
	"slices"

	"github.com/anynpu/anynpu/core/op"
	spec "github.com/anynpu/anynpu/core/spec/nnapi"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(map[string]func(t *translation) error{
		"add":           arithmetic(spec.Add),
		"sub":           arithmetic(spec.Sub),
		"mul":           arithmetic(spec.Mul),
		"div":           lowerDiv,
		"max":           lowerMax,
		"min":           lowerMin,
		"pow":           pair(spec.Pow),
		"equal":         pair(spec.Equal),
		"not_equal":     pair(spec.NotEqual),
		"less":          pair(spec.Less),
		"less_equal":    pair(spec.LessEqual),
		"greater":       pair(spec.Greater),
		"greater_equal": pair(spec.GreaterEqual),
		"and":           pair(spec.LogicalAnd),
		"or":            pair(spec.LogicalOr),
		"not":           single(spec.LogicalNot),
		"abs":           single(spec.Abs),
		"neg":           single(spec.Neg),
		"floor":         single(spec.Floor),
		"exp":           lowerExp,
		"log":           single(spec.Log),
		"sin":           single(spec.Sin),
		"sqrt":          single(spec.Sqrt),
		"rsqrt":         single(spec.Rsqrt),
		"sigmoid":       single(spec.Logistic),
		"tanh":          single(spec.Tanh),
		"relu":          single(spec.ReLU),
		"hard_swish":    single(spec.HardSwish),
		"elu":           lowerElu,
		"leaky_relu":    lowerLeakyRelu,
		"prelu":         lowerPRelu,
		"clip":          lowerClip,
		"square":        lowerSquare,
		"reciprocal":    lowerReciprocal,
		"cast":          lowerCast,
		"convert":       lowerConvert,
		"where":         lowerWhere,
	})
}

// arithmetic is an operation of two operands that may fuse an activation.
func arithmetic(code spec.OperationCode) func(t *translation) error {
	return func(t *translation) error {
		t.add(code, t.Out(0), t.In(0), t.In(1), unfused())
		return nil
	}
}

// pair is an operation of two operands.
func pair(code spec.OperationCode) func(t *translation) error {
	return func(t *translation) error {
		t.add(code, t.Out(0), t.In(0), t.In(1))
		return nil
	}
}

// single is an operation of one operand, with parameters behind it.
func single(code spec.OperationCode, params ...*operand) func(t *translation) error {
	return func(t *translation) error {
		t.Each(t.In(0), t.Out(0), func(x, y *operand) { t.add(code, y, append([]*operand{x}, params...)...) })
		return nil
	}
}

func lowerDiv(t *translation) error {
	if d := t.In(0).typ; d.Quant == nil && d.DType.IsInt() && t.N.Op.(*op.Div).Rounding != op.DivFloor {
		return refuse("integer quotients of DIV are rounded down")
	}
	return arithmetic(spec.Div)(t)
}

func lowerMax(t *translation) error {
	if t.N.Op.(*op.Max).NaN != op.NaNPropagates {
		return refuse("a NaN is to lose: in MAXIMUM it does not")
	}
	return pair(spec.Maximum)(t)
}

func lowerMin(t *translation) error {
	if t.N.Op.(*op.Min).NaN != op.NaNPropagates {
		return refuse("a NaN is to lose: in MINIMUM it does not")
	}
	return pair(spec.Minimum)(t)
}

func lowerExp(t *translation) error {
	if o := *t.N.Op.(*op.Exp); o.Base > 0 || o.Scale != 0 && o.Scale != 1 || o.Shift != 0 {
		return refuse("EXP is of base e, without a factor or a summand")
	}
	return single(spec.Exp)(t)
}

func lowerElu(t *translation) error {
	return single(spec.ELU, floatScalar(t.N.Op.(*op.Elu).Alpha, t.In(0)))(t)
}

// lowerLeakyRelu has a slope for all elements.
func lowerLeakyRelu(t *translation) error {
	x := t.In(0)
	if x.typ.Quant != nil || !x.typ.DType.IsFloat() {
		return refuse("PRELU would round the slope to codes")
	}
	return single(spec.PReLU, constant(t.N.Op.(*op.LeakyRelu).Alpha, x))(t)
}

func lowerPRelu(t *translation) error {
	t.add(spec.PReLU, t.Out(0), t.In(0), t.In(1))
	return nil
}

// lowerClip knows bounds that are constants: those of activations, and others of real numbers.
func lowerClip(t *translation) error {
	bounds := [2]float32{float32(math.Inf(-1)), float32(math.Inf(1))}
	for i := range bounds {
		if t.In(i+1) == nil {
			continue
		}
		v, ok := t.Number(i + 1)
		if !ok {
			return refuse("the bounds are no constant real numbers")
		}
		bounds[i] = v
	}
	if bounds[0] > bounds[1] {
		return refuse("the lower bound is above the upper one")
	}
	for code, b := range map[spec.OperationCode][2]float32{spec.ReLU1: {-1, 1}, spec.ReLU6: {0, 6},
		spec.ReLU: {0, float32(math.Inf(1))}} {
		if bounds == b {
			return single(code)(t)
		}
	}
	if x := t.In(0); x.typ.Quant != nil || !x.typ.DType.IsFloat() {
		return refuse("bounds other than those of RELU, RELU1 and RELU6 are asked for real numbers")
	}
	t.Each(t.In(0), t.Out(0), func(x, y *operand) {
		above := x.Between(x.Dims()...)
		t.add(spec.Maximum, above, x, constant(bounds[0], x))
		t.add(spec.Minimum, y, above, constant(bounds[1], x))
	})
	return nil
}

func lowerSquare(t *translation) error {
	t.Each(t.In(0), t.Out(0), func(x, y *operand) { t.add(spec.Mul, y, x, x, unfused()) })
	return nil
}

func lowerReciprocal(t *translation) error {
	if x := t.In(0); x.typ.Quant != nil || !x.typ.DType.IsFloat() {
		return refuse("DIV has quotients of real numbers")
	}
	t.Each(t.In(0), t.Out(0), func(x, y *operand) { t.add(spec.Div, y, constant(1, x), x, unfused()) })
	return nil
}

func lowerCast(t *translation) error {
	o, x := t.N.Op.(*op.Cast), t.In(0)
	if o.To.IsInt() && o.OutOfRange != op.CastSaturate {
		return refuse("CAST to integers stops at the largest")
	}
	if (x.typ.DType == tensor.Bool) != (o.To == tensor.Bool) {
		return refuse("CAST does not convert truth values")
	}
	return single(spec.Cast)(t)
}

// lowerConvert quantizes and dequantizes.
func lowerConvert(t *translation) error {
	switch from, to := t.In(0).typ.Quant, t.Out(0).typ.Quant; {
	case from == nil && to == nil:
		return single(spec.Cast)(t)
	case from == nil:
		return single(spec.Quantize)(t)
	case to == nil:
		return single(spec.Dequantize)(t)
	}
	return refuse("NNAPI has no operation from codes to other codes")
}

func lowerWhere(t *translation) error {
	for k := range 3 {
		if !slices.Equal(t.In(k).Dims(), t.Out(0).Dims()) {
			return refuse("SELECT does not broadcast: input %d has sizes %v, the result %v", k, t.In(k).Dims(),
				t.Out(0).Dims())
		}
	}
	t.add(spec.Select, t.Out(0), t.In(0), t.In(1), t.In(2))
	return nil
}
