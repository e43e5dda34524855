package lower

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op"
)

// oldDefinitions have the operators whose definitions of opsets 1 to 6 are read: what they make of the lowering of the
// definition that opset 7 has. They are those that the version converter of ONNX turns into that one.
var oldDefinitions = map[string]func(lowering) lowering{
	// consumed_inputs, which said that an input may be overwritten, is all that went
	"Abs": unchanged, "AveragePool": unchanged, "Ceil": unchanged, "Clip": unchanged, "Elu": unchanged, "Exp": unchanged,
	"Floor": unchanged, "HardSigmoid": unchanged, "InstanceNormalization": unchanged, "LeakyRelu": unchanged,
	"Log": unchanged, "Max": unchanged, "Mean": unchanged, "Min": unchanged, "Neg": unchanged, "Reciprocal": unchanged,
	"Relu": unchanged, "Reshape": unchanged, "Selu": selu, "Sigmoid": unchanged, "Sqrt": unchanged, "Sum": unchanged,
	"Tanh": unchanged,

	"Add": alongAxis, "And": alongAxis, "Div": alongAxis, "Equal": alongAxis, "Greater": alongAxis, "Less": alongAxis,
	"Mul": alongAxis, "Or": alongAxis, "Pow": alongAxis, "Sub": alongAxis, "Xor": alongAxis,

	"BatchNormalization": inference, "Dropout": inference,
}

// readsOf reports whether the operator is read in a version of ai.onnx.
func (o *Operator) readsOf(version int64) bool {
	return o.Domain != "" || version >= min(MinOpset, o.Since) || oldDefinitions[o.Name] != nil
}

// at returns the lowering of the definition that a version of ai.onnx has.
func (o *Operator) at(version int64) lowering {
	if older := oldDefinitions[o.Name]; o.Domain == "" && version < min(MinOpset, o.Since) && older != nil {
		return older(o.lower)
	}
	return o.lower
}

func unchanged(l lowering) lowering { return l }

// selu has the numbers of opset 1, which are shorter.
func selu(l lowering) lowering {
	return func(n *node) error {
		if n.version >= 6 {
			return l(n)
		}
		return n.emit(&op.Selu{Alpha: n.float("alpha", 1.6732), Gamma: n.float("gamma", 1.0507)}, n.in...)
	}
}

// alongAxis: the inputs have one shape unless broadcast is 1. Then the second has a part of the dimensions of the
// first, the last ones or those from axis on.
func alongAxis(l lowering) lowering {
	return func(n *node) error {
		if err := n.want(2, 2); err != nil {
			return err
		}
		a, err := n.rank(0)
		if err != nil {
			return err
		}
		b, err := n.rank(1)
		if err != nil {
			return err
		}
		if n.int("broadcast", 0) == 0 {
			x, fixed := n.fact(0).Shape.Ints()
			y, too := n.fact(1).Shape.Ints()
			if a != b || fixed && too && !equalSizes(x, y) {
				return fault.New(fault.Shape, "inputs of shapes %v and %v without broadcast", n.fact(0).Shape, n.fact(1).Shape)
			}
			return l(n)
		}
		axis := int64(a - b)
		if n.p.Attrs["axis"] != nil {
			if axis = n.int("axis", 0); axis < 0 {
				axis += int64(a)
			}
		}
		if axis < 0 || axis > int64(a-b) {
			return fault.New(fault.Shape, "input 1: %v does not fit in %v from dimension %d on", n.fact(1).Shape,
				n.fact(0).Shape, axis)
		}
		var after []int64
		for k := int64(b); k < int64(a)-axis; k++ {
			after = append(after, k)
		}
		if len(after) > 0 {
			n.in[1] = n.b.Add(&op.Unsqueeze{}, n.in[1], n.b.Int64s(after...))
		}
		return l(n)
	}
}

// inference: is_test is 0 by default, which asks for training.
func inference(l lowering) lowering {
	return func(n *node) error {
		if n.int("is_test", 0) == 0 {
			return fault.New(fault.Unsupported, "training mode: attribute is_test of opset %d is 0", n.version)
		}
		return l(n)
	}
}
