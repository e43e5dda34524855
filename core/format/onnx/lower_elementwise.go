package onnx

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// lowerings maps the operators of ai.onnx. It is filled by the init functions of the lower_*.go files.
var lowerings = map[string]lowering{}

func add(m map[string]lowering) {
	for k, v := range m {
		lowerings[k] = v
	}
}

// one lowers to a single operator that takes the node's inputs in order.
func one(f func() graph.Op) lowering {
	return func(n *node) error { return n.emit(f(), n.in...) }
}

// withAttrs is one for an operator with attributes.
func withAttrs(f func(n *node) graph.Op) lowering {
	return func(n *node) error { return n.emit(f(n), n.in...) }
}

// variadic folds two or more inputs by a binary operator; a single one is passed on.
func variadic(f func() graph.Op) lowering {
	return func(n *node) error {
		if len(n.in) == 0 {
			return fault.New(fault.File, "no inputs")
		}
		v := n.in[0]
		if len(n.in) == 1 {
			return n.emit(&op.Identity{}, v)
		}
		for _, w := range n.in[1:] {
			v = n.b.Add(f(), v, w)
		}
		return n.result(v)
	}
}

func init() {
	add(map[string]lowering{
		"Abs": one(func() graph.Op { return &op.Abs{} }), "Acos": one(func() graph.Op { return &op.Acos{} }),
		"Acosh": one(func() graph.Op { return &op.Acosh{} }), "Asin": one(func() graph.Op { return &op.Asin{} }),
		"Asinh": one(func() graph.Op { return &op.Asinh{} }), "Atan": one(func() graph.Op { return &op.Atan{} }),
		"Atanh": one(func() graph.Op { return &op.Atanh{} }), "Ceil": one(func() graph.Op { return &op.Ceil{} }),
		"Cos": one(func() graph.Op { return &op.Cos{} }), "Cosh": one(func() graph.Op { return &op.Cosh{} }),
		"Erf": one(func() graph.Op { return &op.Erf{} }), "Exp": one(func() graph.Op { return &op.Exp{} }),
		"Floor": one(func() graph.Op { return &op.Floor{} }),
		"IsNaN": one(func() graph.Op { return &op.IsNaN{} }), "Log": one(func() graph.Op { return &op.Log{} }),
		"Neg": one(func() graph.Op { return &op.Neg{} }), "Not": one(func() graph.Op { return &op.Not{} }),
		"Reciprocal": one(func() graph.Op { return &op.Reciprocal{} }), "Relu": one(func() graph.Op { return &op.Relu{} }),
		"Round": one(func() graph.Op { return &op.Round{} }), "Sigmoid": one(func() graph.Op { return &op.Sigmoid{} }),
		"Sign": one(func() graph.Op { return &op.Sign{} }), "Sin": one(func() graph.Op { return &op.Sin{} }),
		"Sinh": one(func() graph.Op { return &op.Sinh{} }), "Softplus": one(func() graph.Op { return &op.Softplus{} }),
		"Softsign": one(func() graph.Op { return &op.Softsign{} }), "Sqrt": one(func() graph.Op { return &op.Sqrt{} }),
		"Tan": one(func() graph.Op { return &op.Tan{} }), "Tanh": one(func() graph.Op { return &op.Tanh{} }),
		"Mish": one(func() graph.Op { return &op.Mish{} }), "HardSwish": one(func() graph.Op { return &op.HardSwish{} }),
		"BitwiseNot": one(func() graph.Op { return &op.BitwiseNot{} }), "Det": one(func() graph.Op { return &op.Det{} }),
		"Add": one(func() graph.Op { return &op.Add{} }), "Sub": one(func() graph.Op { return &op.Sub{} }),
		"Mul": one(func() graph.Op { return &op.Mul{} }), "Div": one(func() graph.Op { return &op.Div{} }),
		"Pow": one(func() graph.Op { return &op.Pow{} }), "PRelu": one(func() graph.Op { return &op.PRelu{} }),
		"And": one(func() graph.Op { return &op.And{} }), "Or": one(func() graph.Op { return &op.Or{} }),
		"Xor": one(func() graph.Op { return &op.Xor{} }), "Equal": one(func() graph.Op { return &op.Equal{} }),
		"Less": one(func() graph.Op { return &op.Less{} }), "LessOrEqual": one(func() graph.Op { return &op.LessEqual{} }),
		"Greater":        one(func() graph.Op { return &op.Greater{} }),
		"GreaterOrEqual": one(func() graph.Op { return &op.GreaterEqual{} }),
		"BitwiseAnd":     one(func() graph.Op { return &op.BitwiseAnd{} }),
		"BitwiseOr":      one(func() graph.Op { return &op.BitwiseOr{} }),
		"BitwiseXor":     one(func() graph.Op { return &op.BitwiseXor{} }),
		"Where":          one(func() graph.Op { return &op.Where{} }),
		"Max":            variadic(func() graph.Op { return &op.Max{} }),
		"Min":            variadic(func() graph.Op { return &op.Min{} }),
		"Sum":            variadic(func() graph.Op { return &op.Add{} }), "Mean": lowerMean,

		"IsInf": withAttrs(func(n *node) graph.Op {
			return &op.IsInf{Negative: n.int("detect_negative", 1) != 0, Positive: n.int("detect_positive", 1) != 0}
		}),
		"Elu":       withAttrs(func(n *node) graph.Op { return &op.Elu{Alpha: n.float("alpha", 1)} }),
		"Celu":      withAttrs(func(n *node) graph.Op { return &op.Celu{Alpha: n.float("alpha", 1)} }),
		"LeakyRelu": withAttrs(func(n *node) graph.Op { return &op.LeakyRelu{Alpha: n.float("alpha", 0.01)} }),
		"Selu": withAttrs(func(n *node) graph.Op {
			return &op.Selu{Alpha: n.float("alpha", 1.67326319217681884765625),
				Gamma: n.float("gamma", 1.05070102214813232421875)}
		}),
		"HardSigmoid": withAttrs(func(n *node) graph.Op {
			return &op.HardSigmoid{Alpha: n.float("alpha", 0.2), Beta: n.float("beta", 0.5)}
		}),
		"ThresholdedRelu": withAttrs(func(n *node) graph.Op { return &op.ThresholdedRelu{Alpha: n.float("alpha", 1)} }),
		"Shrink": withAttrs(func(n *node) graph.Op {
			return &op.Shrink{Lambda: n.float("lambd", 0.5),
				Bias: n.float("bias", 0)}
		}),
		"Swish": withAttrs(func(n *node) graph.Op { return &op.Swish{Alpha: n.float("alpha", 1)} }),
		"Gelu":  lowerGelu,
		"Clip":  lowerClip,
		"Mod": withAttrs(func(n *node) graph.Op {
			if n.int("fmod", 0) != 0 {
				return &op.Mod{Sign: op.ModDividend}
			}
			return &op.Mod{Sign: op.ModDivisor}
		}),
		"BitShift": lowerBitShift,
		"Cast":     lowerCast, "CastLike": lowerCastLike,
	})
}

func lowerMean(n *node) error {
	if len(n.in) == 0 {
		return fault.New(fault.File, "no inputs")
	}
	v := n.in[0]
	for _, w := range n.in[1:] {
		v = n.b.Add(&op.Add{}, v, w)
	}
	count, err := n.scalarLike(0, float64(len(n.in)))
	if err != nil {
		return err
	}
	return n.emit(&op.Div{}, v, count)
}

// scalarLike returns a scalar constant of the element type of input i.
func (n *node) scalarLike(i int, x float64) (graph.Value, error) {
	return n.scalarOf(n.fact(i).DType, x)
}

func (n *node) scalarOf(d tensor.DType, x float64) (graph.Value, error) {
	if d == tensor.Float32 {
		return n.b.Float32(float32(x)), nil
	}
	v := n.b.Add(&op.Cast{To: d}, n.b.Float32(float32(x)))
	return v, n.b.Err()
}

func lowerGelu(n *node) error {
	switch a := n.string("approximate", "none"); a {
	case "none":
		return n.emit(&op.Gelu{Approximate: op.GeluErf}, n.in...)
	case "tanh":
		return n.emit(&op.Gelu{Approximate: op.GeluTanh}, n.in...)
	default:
		return fault.New(fault.File, "attribute approximate: %q", a)
	}
}

// lowerClip: the bounds are attributes before opset 11, inputs since.
func lowerClip(n *node) error {
	if n.version >= 11 {
		return n.emit(&op.Clip{}, n.in...)
	}
	bounds := [2]graph.Value{graph.None, graph.None}
	for i, name := range []string{"min", "max"} {
		if a := n.p.Attrs[name]; a != nil {
			bounds[i] = n.b.Float32(a.F)
		}
	}
	return n.emit(&op.Clip{}, n.arg(0), bounds[0], bounds[1])
}

func lowerBitShift(n *node) error {
	switch d := n.string("direction", ""); d {
	case "LEFT", "RIGHT":
		return n.emit(&op.BitShift{Right: d == "RIGHT"}, n.in...)
	default:
		return fault.New(fault.File, "attribute direction: %q", d)
	}
}

func lowerCast(n *node) error {
	d, err := n.dtype("to")
	if err != nil {
		return err
	}
	if d == 0 {
		return fault.New(fault.File, "attribute to is missing")
	}
	return n.cast(d)
}

// cast emits the conversion of input 0. Floats saturate in 4-bit integers, as the reference evaluator of ONNX has them;
// integers wrap.
func (n *node) cast(d tensor.DType) error {
	o := &op.Cast{To: d, Saturate: n.int("saturate", 1) != 0}
	if (d == tensor.Int4 || d == tensor.Uint4) && n.fact(0).DType.IsFloat() {
		o.OutOfRange = op.CastSaturate
	}
	return n.emit(o, n.arg(0))
}

func lowerCastLike(n *node) error {
	d := n.fact(1).DType
	if d == tensor.Invalid {
		return fault.New(fault.Unsupported, "input 1: its element type is not known")
	}
	return n.cast(d)
}
