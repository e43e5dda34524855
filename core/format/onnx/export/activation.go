package export

import (
	"math"

	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func activationRules() []rule {
	return []rule{
		on(func(n *node, o *op.Elu) error { return n.plain("Elu", n.xs(), real("alpha", o.Alpha)) }),
		on(func(n *node, o *op.Celu) error {
			if d := n.dtype(0); d != tensor.Float32 { // the operator of before opset 28 has float32 alone
				a := n.number(d, float64(o.Alpha))
				zero := n.number(d, 0)
				e := n.one("Sub", []string{n.one("Exp", []string{n.one("Div", []string{n.x(0), a})}), n.number(d, 1)})
				return n.set(0, n.one("Add", []string{n.one("Max", []string{n.x(0), zero}),
					n.one("Min", []string{n.one("Mul", []string{a, e}), zero})}), d)
			}
			return n.plain("Celu", n.xs(), real("alpha", o.Alpha))
		}),
		on(func(n *node, o *op.LeakyRelu) error { return n.plain("LeakyRelu", n.xs(), real("alpha", o.Alpha)) }),
		on(func(n *node, o *op.Selu) error {
			return n.plain("Selu", n.xs(), real("alpha", o.Alpha), real("gamma", o.Gamma))
		}),
		on(func(n *node, o *op.HardSigmoid) error {
			return n.plain("HardSigmoid", n.xs(), real("alpha", o.Alpha), real("beta", o.Beta))
		}),
		on(func(n *node, o *op.ThresholdedRelu) error {
			return n.plain("ThresholdedRelu", n.xs(), real("alpha", o.Alpha))
		}),
		on(func(n *node, o *op.Shrink) error {
			attrs := []attr{real("lambd", o.Lambda), real("bias", o.Bias)}
			if n.dtype(0).IsInt() {
				return n.truncated(func(x string) string { return n.one("Shrink", []string{x}, attrs...) })
			}
			return n.plain("Shrink", n.xs(), attrs...)
		}),
		on(func(n *node, o *op.Swish) error {
			x, d := n.x(0), n.dtype(0)
			a := x
			if o.Alpha != 0 && o.Alpha != 1 {
				a = n.one("Mul", []string{x, n.number(d, float64(o.Alpha))})
			}
			return n.plain("Mul", []string{x, n.one("Sigmoid", []string{a})})
		}),
		on(func(n *node, o *op.Gelu) error {
			how := "none"
			if o.Approximate == op.GeluTanh {
				how = "tanh"
			}
			return n.plain("Gelu", n.xs(), text("approximate", how))
		}),
		on(func(n *node, _ *op.Relu) error {
			if n.dtype(0).IsUnsigned() {
				n.put(0, n.code(0))
				return nil
			}
			if d := n.dtype(0); d.IsInt() { // runtimes have Max for more types of integers
				return n.plain("Max", []string{n.x(0), n.number(d, 0)})
			}
			return n.plain("Relu", n.xs())
		}),
		on(exportClip),
	}
}

// exportClip: ONNX wants bounds of the type of x, without dimensions.
func exportClip(n *node, o *op.Clip) error {
	d := n.dtype(0)
	var bounds [2]string
	var value [2]float64
	known := true
	for i := range bounds {
		if !n.has(i + 1) {
			value[i] = math.Inf(2*i - 1)
			continue
		}
		f := n.fact(i + 1)
		if v, ok := constantOf(f); ok {
			value[i] = v
			if d.IsFloat() || f.DType == d && d.Bits() < 64 {
				bounds[i] = n.number(d, v)
				continue
			}
		} else {
			known = false
		}
		bounds[i] = n.as(i+1, d)
		if f.Shape.Rank() != 0 {
			bounds[i] = n.reshape(bounds[i])
		}
	}
	if o.Empty == op.ClipFail && !(known && value[0] <= value[1]) {
		return refuse("a run fails where the lower bound is above the upper one, which ONNX does not")
	}
	return n.plain("Clip", []string{n.x(0), bounds[0], bounds[1]})
}

// constantOf is the number that a constant of one element is.
func constantOf(f tensor.Fact) (float64, bool) {
	n, ok := f.Shape.Count()
	if f.Const == nil || !ok || n != 1 || f.DType == tensor.Bool {
		return 0, false
	}
	if f.DType.IsFloat() {
		return tensor.FloatAt(f.DType, f.Const.Data, 0), true
	}
	if f.DType.Bits() == 64 {
		return 0, false
	}
	v := float64(tensor.IntAt(f.DType, f.Const.Data, 0))
	if q := f.Quant; q != nil && len(q.Scale) > 0 {
		v = (v - float64(q.ZeroAt(0))) * float64(q.Scale[0])
	}
	return v, true
}
