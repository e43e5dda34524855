package lower

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

var elementwiseOperators = []Operator{
	{"", "Max", 6, variadic(func() graph.Op { return &op.Max{} })},
	{"", "Min", 6, variadic(func() graph.Op { return &op.Min{} })},
	{"", "Sum", 6, variadic(func() graph.Op { return &op.Add{} })},
	{"", "Mean", 6, lowerMean},
	{"", "IsInf", 10, withAttrs(func(n *node) graph.Op {
		return &op.IsInf{Negative: n.int("detect_negative", 1) != 0, Positive: n.int("detect_positive", 1) != 0}
	})},
	{"", "Elu", 6, withAttrs(func(n *node) graph.Op { return &op.Elu{Alpha: n.float("alpha", 1)} })},
	{"", "Celu", 12, withAttrs(func(n *node) graph.Op { return &op.Celu{Alpha: n.float("alpha", 1)} })},
	{"", "LeakyRelu", 6, withAttrs(func(n *node) graph.Op { return &op.LeakyRelu{Alpha: n.float("alpha", 0.01)} })},
	{"", "Selu", 6, withAttrs(func(n *node) graph.Op {
		return &op.Selu{Alpha: n.float("alpha", 1.67326319217681884765625),
			Gamma: n.float("gamma", 1.05070102214813232421875)}
	})},
	{"", "HardSigmoid", 6, withAttrs(func(n *node) graph.Op {
		return &op.HardSigmoid{Alpha: n.float("alpha", 0.2), Beta: n.float("beta", 0.5)}
	})},
	{"", "ThresholdedRelu", 10, withAttrs(func(n *node) graph.Op {
		return &op.ThresholdedRelu{Alpha: n.float("alpha", 1)}
	})},
	{"", "Shrink", 9, withAttrs(func(n *node) graph.Op {
		return &op.Shrink{Lambda: n.float("lambd", 0.5),
			Bias: n.float("bias", 0)}
	})},
	{"", "Swish", 24, lowerSwish},
	{"", "Gelu", 20, lowerGelu},
	{"", "Clip", 6, lowerClip},
	{"", "Mod", 10, withAttrs(func(n *node) graph.Op {
		if n.int("fmod", 0) != 0 {
			return &op.Mod{Sign: op.ModDividend}
		}
		return &op.Mod{Sign: op.ModDivisor}
	})},
	{"", "BitShift", 11, lowerBitShift},
	{"", "Cast", 6, lowerCast},
	{"", "CastLike", 15, lowerCastLike},
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

// powerRules are the values of round_mode.
var powerRules = map[string]tensor.PowerRule{"up": tensor.PowerUp, "nearest": tensor.PowerNearest,
	"down": tensor.PowerDown}

// cast emits the conversion of input 0. Numbers outside an integer type wrap.
func (n *node) cast(d tensor.DType) error {
	mode := n.string("round_mode", "up")
	rule, ok := powerRules[mode]
	if !ok {
		return fault.New(fault.File, "attribute round_mode: %q", mode)
	}
	return n.emit(&op.Cast{To: d, Saturate: n.int("saturate", 1) != 0, Powers: rule}, n.arg(0))
}

func lowerCastLike(n *node) error {
	d := n.fact(1).DType
	if d == tensor.Invalid {
		return fault.New(fault.Unsupported, "input 1: its element type is not known")
	}
	return n.cast(d)
}

func lowerSwish(n *node) error {
	if err := n.want(1, 1); err != nil {
		return err
	}
	y, err := n.swish()
	if err != nil {
		return err
	}
	return n.result(y)
}

// swish returns input 0 times the sigmoid of alpha times itself. op.Swish takes an alpha of 0 for 1.
func (n *node) swish() (graph.Value, error) {
	alpha := n.float("alpha", 1)
	if alpha != 0 {
		return n.b.Add(&op.Swish{Alpha: alpha}, n.arg(0)), n.b.Err()
	}
	zero, err := n.scalarLike(0, 0)
	if err != nil {
		return graph.None, err
	}
	return n.b.Add(&op.Mul{}, n.arg(0), n.b.Add(&op.Sigmoid{}, n.b.Add(&op.Mul{}, n.arg(0), zero))), n.b.Err()
}
