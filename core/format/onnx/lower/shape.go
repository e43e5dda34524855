package lower

import (
	"maps"
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

var shapeOperators = []Operator{
	{"", "Reshape", 5, lowerReshape},
	{"", "Transpose", 1, lowerTranspose},
	{"", "Concat", 4, withAttrs(func(n *node) graph.Op { return &op.Concat{Axis: n.int("axis", 1)} })},
	{"", "Split", 2, lowerSplit},
	{"", "Slice", 1, lowerSlice},
	{"", "Pad", 2, lowerPad},
	{"", "Squeeze", 1, axesAs(func() graph.Op { return &op.Squeeze{} })},
	{"", "Unsqueeze", 1, axesAs(func() graph.Op { return &op.Unsqueeze{} })},
	{"", "Flatten", 1, withAttrs(func(n *node) graph.Op { return &op.Flatten{Axis: n.int("axis", 1)} })},
	{"", "Gather", 1, func(n *node) error {
		if s := n.fact(0).Shape; s.Ranked {
			if _, err := op.Axis(n.int("axis", 0), s.Rank()); err != nil {
				return err
			}
		}
		return n.emit(&op.Gather{NegativeWraps: true}, n.arg(0), n.arg(1), n.b.Int64s(n.int("axis", 0)))
	}},
	{"", "GatherElements", 11, withAttrs(func(n *node) graph.Op {
		return &op.GatherElements{Axis: n.int("axis", 0),
			NegativeWraps: true}
	})},
	{"", "GatherND", 11, withAttrs(func(n *node) graph.Op {
		return &op.GatherND{BatchDims: n.int("batch_dims", 0),
			NegativeWraps: true}
	})},
	{"", "ScatterElements", 11, withReduction(func(n *node, r op.ScatterReduction) graph.Op {
		return &op.ScatterElements{Axis: n.int("axis", 0), Reduction: r, NegativeWraps: true}
	})},
	{"", "Scatter", 9, withAttrs(func(n *node) graph.Op {
		return &op.ScatterElements{Axis: n.int("axis", 0),
			NegativeWraps: true}
	})},
	{"", "ScatterND", 11, withReduction(func(n *node, r op.ScatterReduction) graph.Op {
		return &op.ScatterND{Reduction: r, NegativeWraps: true}
	})},
	{"", "Shape", 1, lowerShape},
	{"", "ConstantOfShape", 9, lowerConstantOfShape},
	{"", "Range", 11, lowerRange},
	{"", "OneHot", 9, lowerOneHot},
	{"", "EyeLike", 9, lowerEyeLike},
	{"", "Trilu", 14, withAttrs(func(n *node) graph.Op { return &op.Trilu{Upper: n.int("upper", 1) != 0} })},
	{"", "DepthToSpace", 1, lowerDepthToSpace},
	{"", "SpaceToDepth", 1, lowerSpaceToDepth},
	{"", "ReverseSequence", 10, withAttrs(func(n *node) graph.Op {
		return &op.ReverseSequence{BatchAxis: n.int("batch_axis", 1), TimeAxis: n.int("time_axis", 0)}
	})},
	{"", "Compress", 9, func(n *node) error {
		_, given := n.p.Attrs["axis"]
		return n.emit(&op.Compress{Axis: n.int("axis", 0), Flatten: !given}, n.in...)
	}},
	{"", "Unique", 11, func(n *node) error {
		_, given := n.p.Attrs["axis"]
		return n.emit(&op.Unique{Axis: n.int("axis", 0), Flatten: !given, Unsorted: n.int("sorted", 1) == 0}, n.in...)
	}},
	{"", "CenterCropPad", 18, withAttrs(func(n *node) graph.Op { return &op.CenterCropPad{Axes: n.ints("axes")} })},
	{"", "Constant", 1, lowerConstant},
	{"", "Dropout", 7, lowerDropout},
}

func lowerReshape(n *node) error {
	o := &op.Reshape{ZeroCopies: n.int("allowzero", 0) == 0}
	if n.version >= 5 || n.has(1) {
		return n.emit(o, n.in...)
	}
	return n.emit(o, n.arg(0), n.b.Int64s(n.ints("shape")...))
}

func lowerTranspose(n *node) error {
	if perm := n.ints("perm"); n.p.Attrs["perm"] != nil {
		return n.emit(&op.Transpose{}, n.arg(0), n.b.Int64s(perm...))
	}
	return n.emit(&op.Transpose{}, n.arg(0))
}

// axesAs lowers an operator whose axes are an attribute before opset 13 and an input since.
func axesAs(f func() graph.Op) lowering {
	return func(n *node) error {
		if axes := n.axesInput(1, "axes"); axes != graph.None {
			return n.emit(f(), n.arg(0), axes)
		}
		return n.emit(f(), n.arg(0))
	}
}

// lowerSplit: the sizes are an attribute before opset 13, an input since; num_outputs (opset 18) allows a smaller last
// part.
func lowerSplit(n *node) error {
	o := &op.Split{Axis: n.int("axis", 0), Ragged: n.p.Attrs["num_outputs"] != nil}
	if v := n.int("num_outputs", int64(len(n.out))); v != int64(len(n.out)) {
		return fault.New(fault.File, "num_outputs %d, the node names %d outputs", v, len(n.out))
	}
	if sizes := n.axesInput(1, "split"); sizes != graph.None {
		return n.emit(o, n.arg(0), sizes)
	}
	return n.emit(o, n.arg(0))
}

func lowerSlice(n *node) error {
	if n.version >= 10 {
		return n.emit(&op.Slice{}, n.in...)
	}
	in := []graph.Value{n.arg(0), n.b.Int64s(n.ints("starts")...), n.b.Int64s(n.ints("ends")...)}
	if n.p.Attrs["axes"] != nil {
		in = append(in, n.b.Int64s(n.ints("axes")...))
	}
	return n.emit(&op.Slice{}, in...)
}

var PadModes = map[string]op.PadMode{"constant": op.PadConstant, "reflect": op.PadReflect, "edge": op.PadEdge,
	"wrap": op.PadWrap}

func lowerPad(n *node) error {
	if n.version < 11 {
		return n.pad(n.ints("pads"))
	}
	mode, err := choice(n, "mode", "constant", PadModes)
	if err != nil {
		return err
	}
	return n.emit(&op.Pad{Mode: mode}, n.in...)
}

// pad is the definition before opset 11, whose pads and value are attributes.
func (n *node) pad(pads []int64) error {
	mode, err := choice(n, "mode", "constant", PadModes)
	if err != nil {
		return err
	}
	value, err := n.scalarLike(0, float64(n.float("value", 0)))
	if err != nil {
		return err
	}
	return n.emit(&op.Pad{Mode: mode}, n.arg(0), n.b.Int64s(pads...), value)
}

var Reductions = map[string]op.ScatterReduction{"none": op.ScatterSet, "add": op.ScatterAdd, "mul": op.ScatterMul,
	"max": op.ScatterMax, "min": op.ScatterMin}

func withReduction(f func(n *node, r op.ScatterReduction) graph.Op) lowering {
	return func(n *node) error {
		name := n.string("reduction", "none")
		r, ok := Reductions[name]
		if !ok {
			return fault.New(fault.File, "attribute reduction: %q", name)
		}
		return n.emit(f(n, r), n.in...)
	}
}

func lowerShape(n *node) error {
	end, given := n.p.Attrs["end"]
	o := &op.Shape{Start: n.int("start", 0), HasEnd: given}
	if given {
		o.End = end.I
	}
	return n.emit(o, n.in...)
}

func lowerConstantOfShape(n *node) error {
	value := graph.None
	if a := n.p.Attrs["value"]; a != nil && a.T != nil {
		v, err := n.constant(a.T)
		if err != nil {
			return fault.Wrap(err, "attribute value")
		}
		value = n.b.Add(&op.Reshape{}, v, n.b.Const("", tensor.T(tensor.Int64, 0), nil))
	} else {
		value = n.b.Float32(0)
	}
	return n.emit(&op.Fill{}, n.arg(0), value)
}

// lowerOneHot: ONNX gives off and on values as one tensor of two elements.
func lowerOneHot(n *node) error {
	if err := n.want(3, 3); err != nil {
		return err
	}
	indices, depth := n.integers(0), n.integers(1)
	zero, one := n.b.Const("", tensor.T(tensor.Int64), tensor.Int64s(0)), n.b.Const("", tensor.T(tensor.Int64),
		tensor.Int64s(1))
	off := n.b.Add(&op.Gather{}, n.arg(2), zero, zero)
	on := n.b.Add(&op.Gather{}, n.arg(2), one, zero)
	return n.emit(&op.OneHot{Axis: n.int("axis", -1), Outside: op.OneHotWraps}, indices, depth, on, off)
}

// integers returns input i as int64 where it may be of a float type.
func (n *node) integers(i int) graph.Value {
	if d := n.fact(i).DType; d.IsInt() {
		return n.arg(i)
	}
	return n.b.Add(&op.Cast{To: tensor.Int64}, n.arg(i))
}

func lowerEyeLike(n *node) error {
	d, err := n.dtype("dtype")
	if err != nil {
		return err
	}
	return n.emit(&op.EyeLike{K: n.int("k", 0), To: d}, n.in...)
}

// lowerRange: stash_type (opset 27) is how the values of 16-bit floats are formed; the project forms them in float64.
func lowerRange(n *node) error {
	if s := n.int("stash_type", 1); s != 1 {
		return fault.New(fault.Unsupported, "attribute stash_type: %d; only 1 is supported, float32 or wider", s)
	}
	return n.emit(&op.Range{}, n.in...)
}

// depthMode reads the order of the channels, which SpaceToDepth has from opset 28 on.
func (n *node) depthMode() (op.DepthMode, error) {
	switch m := n.string("mode", "DCR"); m {
	case "DCR":
		return op.DCR, nil
	case "CRD":
		return op.CRD, nil
	default:
		return 0, fault.New(fault.File, "attribute mode: %q", m)
	}
}

func lowerDepthToSpace(n *node) error {
	mode, err := n.depthMode()
	if err != nil {
		return err
	}
	return n.emit(&op.DepthToSpace{Block: n.int("blocksize", 0), Mode: mode}, n.in...)
}

func lowerSpaceToDepth(n *node) error {
	mode, err := n.depthMode()
	if err != nil {
		return err
	}
	return n.emit(&op.SpaceToDepth{Block: n.int("blocksize", 0), Mode: mode}, n.in...)
}

// lowerConstant: the value is one of several attributes.
func lowerConstant(n *node) error {
	for _, name := range slices.Sorted(maps.Keys(n.p.Attrs)) {
		a := n.p.Attrs[name]
		switch name {
		case "value":
			if a.T == nil {
				return fault.New(fault.File, "attribute value holds no tensor")
			}
			v, err := n.constant(a.T)
			if err != nil {
				return fault.Wrap(err, "attribute value")
			}
			return n.result(v)
		case "value_float":
			return n.result(n.b.Float32(a.F))
		case "value_floats":
			return n.result(n.b.Const("", tensor.T(tensor.Float32, int64(len(a.Floats))), tensor.Float32s(a.Floats...)))
		case "value_int":
			return n.result(n.b.Const("", tensor.T(tensor.Int64), tensor.Int64s(a.I)))
		case "value_ints":
			return n.result(n.b.Int64s(a.Ints...))
		}
	}
	return fault.New(fault.Unsupported, "constants that are strings or sparse tensors are not supported")
}

// lowerDropout: at inference the input passes; the mask is all true.
func lowerDropout(n *node) error {
	if n.has(2) {
		v := n.fact(2)
		if k, ok := v.KnownInts(); !ok || len(k) != 1 || k[0] != 0 {
			return fault.New(fault.Unsupported, "training mode")
		}
	}
	n.out[0] = n.b.Add(&op.Identity{}, n.arg(0))
	if len(n.out) > 1 && n.p.Node.Out[1] != "" {
		shape := n.b.Add(&op.Shape{}, n.arg(0))
		n.out[1] = n.b.Add(&op.Fill{}, shape, n.b.Const("", tensor.T(tensor.Bool), []byte{1}))
	}
	return n.b.Err()
}

// size returns dimension i of a value, counted from the end when negative, as a list of one.
func (n *node) size(v graph.Value, i int64) graph.Value {
	if i == -1 {
		return n.b.Add(&op.Shape{Start: i}, v)
	}
	return n.b.Add(&op.Shape{Start: i, HasEnd: true, End: i + 1}, v)
}
