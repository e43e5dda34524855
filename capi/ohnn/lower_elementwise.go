package ohnn

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	lowerAll(map[string]func(n *node) error{
		"ADD":                mixedFused("ACTIVATIONTYPE", func() graph.Op { return &op.Add{} }),
		"SUB":                mixedFused("ACTIVATIONTYPE", func() graph.Op { return &op.Sub{} }),
		"MUL":                mixedFused("ACTIVATION_TYPE", func() graph.Op { return &op.Mul{} }),
		"DIV":                mixedFused("ACTIVATIONTYPE", func() graph.Op { return &op.Div{Rounding: op.DivTrunc} }),
		"BIAS_ADD":           lowerBiasAdd,
		"MAXIMUM":            mixed(func() graph.Op { return &op.Max{} }),
		"MINIMUM":            mixed(func() graph.Op { return &op.Min{} }),
		"MOD":                mixed(func() graph.Op { return &op.Mod{Sign: op.ModDividend} }),
		"SQUARED_DIFFERENCE": mixed(func() graph.Op { return &op.SquaredDifference{} }),
		"EQUAL":              mixed(func() graph.Op { return &op.Equal{} }),
		"NOT_EQUAL":          mixed(func() graph.Op { return &op.NotEqual{} }),
		"LESS":               mixed(func() graph.Op { return &op.Less{} }),
		"LESS_EQUAL":         mixed(func() graph.Op { return &op.LessEqual{} }),
		"GREATER":            mixed(func() graph.Op { return &op.Greater{} }),
		"GREATER_EQUAL":      mixed(func() graph.Op { return &op.GreaterEqual{} }),
		"LOGICAL_AND":        mixedTruths(func() graph.Op { return &op.And{} }),
		"LOGICAL_OR":         mixedTruths(func() graph.Op { return &op.Or{} }),
		"LOGICAL_NOT":        same(func() graph.Op { return &op.Not{} }).plain,
		"ABS":                same(func() graph.Op { return &op.Abs{} }).plain,
		"NEG":                same(func() graph.Op { return &op.Neg{} }).plain,
		"CEIL":               same(func() graph.Op { return &op.Ceil{} }).plain,
		"FLOOR":              same(func() graph.Op { return &op.Floor{} }).plain,
		"ROUND":              same(func() graph.Op { return &op.Round{Ties: op.RoundEven} }).plain,
		"SQRT":               same(func() graph.Op { return &op.Sqrt{} }).plain,
		"RSQRT":              same(func() graph.Op { return &op.Rsqrt{} }).plain,
		"RECIPROCAL":         same(func() graph.Op { return &op.Reciprocal{} }).plain,
		"SQUARE":             same(func() graph.Op { return &op.Square{} }).plain,
		"LOG":                same(func() graph.Op { return &op.Log{} }).plain,
		"SIN":                same(func() graph.Op { return &op.Sin{} }).plain,
		"COS":                same(func() graph.Op { return &op.Cos{} }).plain,
		"ERF":                same(func() graph.Op { return &op.Erf{} }).plain,
		"SIGMOID":            same(func() graph.Op { return &op.Sigmoid{} }).plain,
		"TANH":               same(func() graph.Op { return &op.Tanh{} }).plain,
		"RELU":               same(func() graph.Op { return &op.Relu{} }).plain,
		"HSWISH":             same(func() graph.Op { return &op.HardSwish{} }).plain,
		"HARD_SIGMOID":       same(func() graph.Op { return &op.HardSigmoid{Alpha: 1.0 / 6, Beta: 0.5} }).plain,
		"SWISH":              same(func() graph.Op { return &op.Swish{} }).plain,
		"PRELU":              lowerPRelu,
		"RELU6":              lowerRelu6,
		"LEAKY_RELU": func(n *node) error {
			return n.emit(&op.LeakyRelu{Alpha: n.float("NEGATIVE_SLOPE", 0)},
				n.in(0))
		},
		"GELU":             lowerGelu,
		"EXP":              lowerExp,
		"CLIP":             lowerClip,
		"POW":              lowerPow,
		"ELTWISE":          lowerEltwise,
		"CAST":             lowerCast,
		"WHERE":            lowerWhere,
		"SELECT":           lowerSelect,
		"SCALE":            lowerScale,
		"QUANT_DTYPE_CAST": lowerQuantCast,
	})
}

// same is a lowering to one core operator over the same inputs.
type same func() graph.Op

func (s same) plain(n *node) error { return n.emit(s(), n.ins()...) }

// wantReals refuses plain integers and bools as input i.
func (n *node) wantReals(i int) error {
	if f := n.fact(i); f.Quant == nil && (f.DType.IsInt() || f.DType == tensor.Bool) {
		return fault.New(fault.Type, "input %d: want a float or quantized type, got %v "+
			"[ohnn-input-float-quantized]", i, f.DType)
	}
	return nil
}

// lowerBiasAdd: one bias per step of the last dimension.
func lowerBiasAdd(n *node) error {
	if err := n.wantRank(0, 2, 5); err != nil {
		return err
	}
	if err := n.wantRank(1, 1, 1); err != nil {
		return err
	}
	x, bias := n.fact(0).Shape, n.fact(1).Shape
	if last := x.Dims[x.Rank()-1]; last.Known() && bias.Dims[0].Known() && last.N != bias.Dims[0].N {
		return fault.New(fault.Shape, "input 1: want one bias for each of the last dimension of %v, got %v "+
			"[ohnn-input-bias-last]", x, bias)
	}
	return n.emit(&op.Add{}, n.ins()...)
}

// lowerPRelu: one slope, or one per step of the last dimension, in any shape of that many elements.
func lowerPRelu(n *node) error {
	slope := n.fact(1).Shape
	for i := 0; i < slope.Rank()-1; i++ {
		if d := slope.Dims[i]; d.Known() && d.N != 1 {
			return fault.New(fault.Shape, "input 1: want one slope or one per channel, got %v "+
				"[ohnn-input-slope-per]", slope)
		}
	}
	return n.emit(&op.PRelu{}, n.ins()...)
}

func lowerRelu6(n *node) error {
	v, err := n.relu6(n.in(0))
	if err != nil {
		return err
	}
	return n.put(0, v)
}

func lowerGelu(n *node) error {
	o := &op.Gelu{Approximate: op.GeluErf}
	if n.flag("APPROXIMATE", false) {
		o.Approximate = op.GeluTanh
	}
	return n.emit(o, n.in(0))
}

// lowerExp: base^(shift + scale x); base -1 stands for e. A scale of 0 is not the core operator's default but 0.
func lowerExp(n *node) error {
	base, scale := n.float("BASE", -1), n.float("SCALE", 1)
	x := n.in(0)
	if base == -1 {
		base = 0
	} else if !(base > 0) {
		return fault.New(fault.Argument, "BASE: %v: want a positive number, or -1 for e "+
			"[ohnn-base-positive-number]", base)
	}
	if scale == 0 {
		zero, err := n.number(x, 0)
		if err != nil {
			return err
		}
		if x, err = n.add(&op.Mul{}, x, zero); err != nil {
			return err
		}
	}
	return n.emit(&op.Exp{Base: base, Scale: scale, Shift: n.float("SHIFT", 0)}, x)
}

// lowerClip: a missing bound is 0; min above max fails the run.
func lowerClip(n *node) error {
	x := n.in(0)
	lo, err := n.number(x, n.float("MIN", 0))
	if err != nil {
		return fault.Wrap(err, "MIN")
	}
	hi, err := n.number(x, n.float("MAX", 0))
	if err != nil {
		return fault.Wrap(err, "MAX")
	}
	return n.emit(&op.Clip{Empty: op.ClipFail}, x, n.called("MIN", lo), n.called("MAX", hi))
}

// scaled returns the real values v times a number.
func (n *node) scaled(v graph.Value, by float32) (graph.Value, error) {
	b, err := n.number(v, by)
	if err != nil {
		return graph.None, err
	}
	return n.add(&op.Mul{}, v, b)
}

// lowerPow: (scale x + shift)^y.
func lowerPow(n *node) error {
	scale, shift := n.float("SCALE", 1), n.float("SHIFT", 0)
	x, y := n.in(0), n.in(1)
	// A result of the base's type is meant in it. Bools are no numbers to this operator.
	if a, b := n.fact(0).DType, n.fact(1).DType; n.outType(0).DType != a && a != tensor.Bool && b != tensor.Bool {
		in, err := n.alike()
		if err != nil {
			return err
		}
		x, y = in[0], in[1]
	}
	if scale != 1 || shift != 0 {
		var err error
		if x, err = n.real(x); err != nil {
			return err
		}
		if x, err = n.scaled(x, scale); err != nil {
			return err
		}
		b, err := n.number(x, shift)
		if err != nil {
			return err
		}
		if x, err = n.add(&op.Add{}, x, b); err != nil {
			return err
		}
	}
	return n.emit(&op.Pow{}, x, y)
}

func lowerEltwise(n *node) error {
	in, err := n.alike()
	if err != nil {
		return err
	}
	switch mode := n.int("MODE", 0); mode {
	case 0:
		return n.emit(&op.Mul{}, in...)
	case 1:
		return n.emit(&op.Add{}, in...)
	case 2:
		return n.emit(&op.Max{}, in...)
	default:
		return fault.New(fault.Argument, "MODE: %d: only 0 (product), 1 (sum) and 2 (maximum) have a meaning "+
			"[ohnn-mode-product-sum]", mode)
	}
}

// lowerCast converts the elements as they are stored. A target of OH_NN_UNKNOWN leaves the choice to the output's
// declaration.
func lowerCast(n *node) error {
	to := DataType(castTarget(n.tensorIn(1))).DType()
	if to == tensor.Invalid {
		if to = n.outType(0).DType; to == tensor.Invalid {
			return fault.New(fault.Type, "neither the target type nor the output's data type says what to "+
				"convert to [ohnn-target-type-output]")
		}
	}
	o := &op.Cast{To: to}
	if n.fact(0).DType.IsFloat() {
		o.OutOfRange = op.CastSaturate
	}
	return n.emit(o, n.in(0))
}

// condition returns the truth of input 0.
func (n *node) condition() (graph.Value, error) { return n.truth(0) }

func lowerWhere(n *node) error {
	c, err := n.condition()
	if err != nil {
		return err
	}
	return n.emit(&op.Where{}, c, n.in(1), n.in(2))
}

// lowerSelect: a condition of rank 1 goes with the first dimension of the data.
func lowerSelect(n *node) error {
	c, err := n.condition()
	if err != nil {
		return err
	}
	if r := n.rank(1); n.rank(0) == 1 && r > 1 {
		if c, err = n.trailingOnes(c, 1, r); err != nil {
			return err
		}
	}
	return n.emit(&op.Where{}, c, n.in(1), n.in(2))
}

// trailingOnes appends dimensions of 1 to v, of rank from, until it has rank to.
func (n *node) trailingOnes(v graph.Value, from, to int) (graph.Value, error) {
	if from >= to {
		return v, nil
	}
	var axes []int64
	for a := from; a < to; a++ {
		axes = append(axes, int64(a))
	}
	return n.add(&op.Unsqueeze{}, v, n.b.Int64s(axes...))
}

// lowerScale: x scale + bias, where scale and bias begin at dimension AXIS of x.
func lowerScale(n *node) error {
	for i := range n.inputs {
		if err := n.wantReals(i); err != nil {
			return err
		}
	}
	rank := n.rank(0)
	axis, err := op.Axis(n.int("AXIS", -1), rank)
	if err != nil {
		return fault.Wrap(err, "AXIS")
	}
	var side [2]graph.Value
	for i := range side {
		r := n.rank(i + 1)
		if axis+r > rank {
			return fault.New(fault.Shape, "input %d: rank %d from axis %d on does not fit into rank %d "+
				"[ohnn-input-rank-axis]", i+1, r, axis, rank)
		}
		if side[i], err = n.trailingOnes(n.in(i+1), r, rank-axis); err != nil {
			return err
		}
	}
	x, err := n.real(n.in(0))
	if err != nil {
		return err
	}
	for i, o := range []graph.Op{&op.Mul{}, &op.Add{}} {
		v, err := n.real(side[i])
		if err != nil {
			return err
		}
		if d := n.b.Fact(x).DType; n.b.Fact(v).DType != d {
			if v, err = n.add(&op.Cast{To: d}, v); err != nil {
				return err
			}
		}
		if x, err = n.add(o, x, v); err != nil {
			return err
		}
	}
	return n.activate(n.int("ACTIVATIONTYPE", 0), x)
}

// lowerQuantCast goes by the declared types; the parameters with type numbers are any back end's own. The quantization
// is the output's, else the input's, of several entries along AXIS. Between int8 and uint8 the bits shift by 128
// whatever the parameters say.
func lowerQuantCast(n *node) error {
	from, to := n.fact(0).DType, n.outType(0).DType
	qx, qy := n.tensorIn(0).coreQuant(), n.tensorOut(0).coreQuant()
	for _, q := range []*tensor.Quant{qx, qy} {
		if q != nil && len(q.Scale) > 1 {
			axis, err := op.Axis(n.int("AXIS", 0), n.rank(0))
			if err != nil {
				return fault.Wrap(err, "AXIS")
			}
			q.Axis = axis
		}
	}
	q := qy
	if q == nil {
		q = qx
	}
	quantized := func(d tensor.DType) bool { return d == tensor.Int8 || d == tensor.Uint8 }
	switch {
	case !quantized(to) && !(quantized(from) && to.IsFloat()), !quantized(from) && !from.IsFloat():
		n.contradict("%v to %v: want a float from or to int8 or uint8, or both of these "+
			"[ohnn-float-int8-uint8]", from, to)
		return n.emit(&op.Cast{To: to}, n.in(0))
	case quantized(from) && quantized(to) && from != to:
		wide, err := n.add(&op.Cast{To: tensor.Int32}, n.in(0))
		if err != nil {
			return err
		}
		shift := int32(128)
		if from == tensor.Uint8 {
			shift = -128
		}
		wide, err = n.add(&op.Add{}, wide, n.b.Const("", tensor.T(tensor.Int32), tensor.Int32s(shift)))
		if err != nil {
			return err
		}
		v, err := n.addAs(0, &op.Cast{To: to}, wide)
		if err != nil {
			return err
		}
		n.wantShape(0, n.b.Fact(v).Shape)
		n.set(0, v)
		return nil
	case q == nil && (quantized(from) || quantized(to)):
		return fault.New(fault.Argument, "neither input 0 nor output 0 has quantization parameters "+
			"[ohnn-input-output-quantization]")
	case from.IsFloat() && quantized(to):
		return n.convert(tensor.Type{DType: to, Quant: q})
	case quantized(from) && to.IsFloat() && qx == nil:
		zeros := make([]byte, len(q.Scale))
		for i := range zeros {
			zeros[i] = byte(q.ZeroAt(i))
		}
		var t []int64
		if len(q.Scale) > 1 {
			t = []int64{int64(len(q.Scale))}
		}
		return n.emit(&op.Dequantize{Axis: int64(q.Axis), To: to}, n.in(0),
			n.b.Const("", tensor.T(tensor.Float32, t...), tensor.Float32s(q.Scale...)), n.b.Const("", tensor.T(from, t...),
				zeros))
	}
	return n.convert(n.outType(0))
}

// convert makes output 0 the real values of input 0 in the representation of t.
func (n *node) convert(t tensor.Type) error {
	t.Shape = tensor.AnyShape()
	out, err := n.addTyped(&op.Convert{}, []tensor.Type{t}, n.in(0))
	if err != nil {
		return err
	}
	n.wantShape(0, n.b.Fact(out[0]).Shape)
	n.set(0, out[0])
	return nil
}
