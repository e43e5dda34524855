package lower

import (
	"math"
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx/proto"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// oldDefinitions have the operators whose definitions of opsets 1 to 6 differ from that of opset 7: what they make of
// the lowering of the latter.
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

	"Cast": castToName, "Concat": concatFromOne, "Pad": paddings, "PRelu": slopePerChannel, "Split": partsAsInput,
	"Tile": tileOne, "Upsample": upsampleTwo, "LpPool": norm, "GlobalLpPool": norm, "Gemm": unchanged,
	// output_sequence 0 allowed the sequence to be left out, as every output may be left out since
	"GRU": unchanged, "LSTM": unchanged, "RNN": unchanged,
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

// castToName: before opset 6 the type is its name.
func castToName(l lowering) lowering {
	return func(n *node) error {
		if n.version >= 6 {
			return l(n)
		}
		d, err := proto.DTypeNamed(n.string("to", ""))
		if err != nil {
			return fault.Wrap(err, "attribute to")
		}
		return n.cast(d)
	}
}

// concatFromOne: before opset 4 the axis may be left out.
func concatFromOne(l lowering) lowering {
	return func(n *node) error {
		if n.version >= 4 {
			return l(n)
		}
		return n.emit(&op.Concat{Axis: n.int("axis", 1)}, n.in...)
	}
}

// paddings is the first name of pads.
func paddings(l lowering) lowering {
	return func(n *node) error {
		if n.version >= 2 {
			return l(n)
		}
		return n.pad(n.ints("paddings"))
	}
}

// slopePerChannel: a slope of several numbers has one for each index of dimension 1.
func slopePerChannel(l lowering) lowering {
	return func(n *node) error {
		if err := n.want(2, 2); err != nil {
			return err
		}
		x, err := n.rank(0)
		if err != nil {
			return err
		}
		slope, err := n.rank(1)
		if err != nil {
			return err
		}
		count, known := n.fact(1).Shape.Count()
		if one := known && count == 1; slope == 1 && !one && x > 2 {
			after := make([]int64, x-2)
			for i := range after {
				after[i] = int64(i) + 1
			}
			n.in[1] = n.b.Add(&op.Unsqueeze{}, n.in[1], n.b.Int64s(after...))
		}
		return l(n)
	}
}

// partsAsInput: the sizes of opset 1 are an attribute or, as numbers of the split value's type, an input.
func partsAsInput(l lowering) lowering {
	return func(n *node) error {
		if n.version >= 2 || !n.has(1) {
			return l(n)
		}
		sizes, _ := n.whole(1)
		return n.emit(&op.Split{Axis: n.int("axis", 0)}, n.arg(0), sizes)
	}
}

// whole is an input of whole numbers of any type as int64, with the numbers where they are known: shapes that depend
// on them are known then too.
func (n *node) whole(i int) (v graph.Value, known []int64) {
	f := n.fact(i)
	count, ok := f.Shape.Count()
	if f.Const == nil || !ok {
		return n.b.Add(&op.Cast{To: tensor.Int64}, n.arg(i)), nil
	}
	for k := range int(count) {
		x := tensor.FloatAt(f.DType, f.Const.Data, k)
		if x != math.Trunc(x) || math.Abs(x) > 1<<53 {
			return n.b.Add(&op.Cast{To: tensor.Int64}, n.arg(i)), nil
		}
		known = append(known, int64(x))
	}
	return n.b.Const("", tensor.Type{DType: tensor.Int64, Shape: f.Shape}, tensor.Int64s(known...)), known
}

// tileOne repeats one dimension: the count and the dimension are numbers of the repeated value's type.
func tileOne(l lowering) lowering {
	return func(n *node) error {
		if n.version >= 6 {
			return l(n)
		}
		if err := n.want(3, 3); err != nil {
			return err
		}
		rank, err := n.rank(0)
		if err != nil {
			return err
		}
		dims := make([]int64, rank)
		for i := range dims {
			dims[i] = int64(i)
		}
		count, counts := n.whole(1)
		axis, axes := n.whole(2)
		if len(counts) == 1 && len(axes) == 1 && axes[0] >= 0 && axes[0] < int64(rank) {
			repeats := slices.Repeat([]int64{1}, rank)
			repeats[axes[0]] = counts[0]
			return n.emit(&op.Tile{}, n.arg(0), n.b.Int64s(repeats...))
		}
		at := n.b.Add(&op.Equal{}, n.b.Int64s(dims...), axis)
		return n.emit(&op.Tile{}, n.arg(0), n.b.Add(&op.Where{}, at, count, n.b.Int64s(1)))
	}
}

// upsampleTwo has a factor of the height and one of the width.
func upsampleTwo(l lowering) lowering {
	return func(n *node) error {
		if n.version >= 7 {
			return l(n)
		}
		mode := op.ResizeNearest
		switch name := n.string("mode", "nearest"); name {
		case "nearest":
		case "bilinear":
			mode = op.ResizeLinear
		default:
			return fault.New(fault.File, "attribute mode: %q", name)
		}
		scales := []float32{1, 1, n.float("height_scale", 0), n.float("width_scale", 0)}
		return n.upsample(mode, n.b.Const("", tensor.T(tensor.Float32, 4), tensor.Float32s(scales...)))
	}
}

// norm: in opset 1 p is a real number. Others than integers are refused.
func norm(l lowering) lowering {
	return func(n *node) error {
		if n.version >= 2 {
			return l(n)
		}
		p := float64(n.float("p", 2))
		if p != math.Trunc(p) || math.Abs(p) > math.MaxInt32 {
			return fault.New(fault.Unsupported, "attribute p: %v, want an integer", p)
		}
		if n.p.OpType == "GlobalLpPool" {
			return n.emit(&op.LpPool{Global: true, P: int64(p)}, n.in...)
		}
		w, err := n.window()
		if err != nil {
			return err
		}
		return n.emit(w.norm(int64(p)), n.in...)
	}
}
