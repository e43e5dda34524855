package ohnn

import (
	"math"
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	lowerAll(map[string]func(n *node) error{
		"RESHAPE":      withInts(func(n *node) graph.Op { return &op.Reshape{ZeroCopies: true} }),
		"TRANSPOSE":    withInts(func(n *node) graph.Op { return &op.Transpose{} }),
		"EXPAND_DIMS":  withInts(func(n *node) graph.Op { return &op.Unsqueeze{} }),
		"GATHER":       withInts(func(n *node) graph.Op { return &op.Gather{} }),
		"CONCAT":       lowerConcat,
		"FLATTEN":      lowerFlatten,
		"SHAPE":        func(n *node) error { return n.emit(&op.Shape{To: n.indexType(0)}, n.in(0)) },
		"RANK":         func(n *node) error { return n.emit(&op.Rank{To: n.indexType(0)}, n.in(0)) },
		"SQUEEZE":      lowerSqueeze,
		"UNSQUEEZE":    lowerUnsqueeze,
		"SPLIT":        lowerSplit,
		"UNSTACK":      lowerUnstack,
		"STACK":        lowerStack,
		"SLICE":        lowerSlice,
		"PAD":          lowerPad,
		"TILE":         lowerTile,
		"BROADCAST_TO": lowerBroadcastTo,
		"FILL":         lowerFill,
	})
}

// withInts is a lowering to one operator whose inputs but the first are integers.
func withInts(make func(n *node) graph.Op) func(n *node) error {
	return func(n *node) error {
		in := n.ins()
		for i := 1; i < len(in); i++ {
			v, err := n.integers(i)
			if err != nil {
				return err
			}
			in[i] = v
		}
		return n.emit(make(n), in...)
	}
}

func lowerConcat(n *node) error {
	axis, err := n.axis("AXIS", 0, n.rank(0))
	if err != nil {
		return err
	}
	return n.emit(&op.Concat{Axis: axis}, n.ins()...)
}

// lowerFlatten takes the rank as axis too.
func lowerFlatten(n *node) error {
	r := int64(n.rank(0))
	if err := n.wantWithin("AXIS", 1, -r, r); err != nil {
		return err
	}
	return n.emit(&op.Flatten{Axis: n.int("AXIS", 1)}, n.in(0))
}

// lowerSqueeze: without axes every dimension of 1 goes.
func lowerSqueeze(n *node) error {
	if axes := n.ints("AXIS"); len(axes) > 0 {
		return n.emit(&op.Squeeze{}, n.in(0), n.param("AXIS", axes...))
	}
	return n.emit(&op.Squeeze{}, n.in(0))
}

func lowerUnsqueeze(n *node) error {
	if !n.has("AXIS") {
		return fault.New(fault.Argument, "AXIS is missing: it has no default [ohnn-axis-missing-no]")
	}
	return n.emit(&op.Unsqueeze{}, n.in(0), n.param("AXIS", n.int("AXIS", 0)))
}

// lowerSplit: SIZE_SPLITS, one of which may be -1, or equal parts.
func lowerSplit(n *node) error {
	if want := n.int("OUTPUT_NUM", 0); want != 0 && want != int64(len(n.outputs)) {
		return fault.New(fault.Argument, "OUTPUT_NUM: %d: the operation names %d outputs "+
			"[ohnn-output-num-operation]", want, len(n.outputs))
	}
	axis, err := n.axis("AXIS", 0, n.rank(0))
	if err != nil {
		return err
	}
	o := &op.Split{Axis: axis}
	if sizes := n.ints("SIZE_SPLITS"); len(sizes) > 0 {
		return n.emit(o, n.in(0), n.param("SIZE_SPLITS", sizes...))
	}
	return n.emit(o, n.in(0))
}

// lowerUnstack is a split into slices of 1 whose axis is dropped.
func lowerUnstack(n *node) error {
	axis, err := n.axis("AXIS", 0, n.rank(0))
	if err != nil {
		return err
	}
	sizes := make([]int64, len(n.outputs))
	for i := range sizes {
		sizes[i] = 1
	}
	parts, err := n.addTyped(&op.Split{Axis: axis}, make([]tensor.Type, len(sizes)), n.in(0),
		n.called("outputs", n.b.Int64s(sizes...)))
	if err != nil {
		return err
	}
	for i, v := range parts {
		if v, err = n.add(&op.Squeeze{}, v, n.b.Int64s(axis)); err != nil {
			return err
		}
		if err = n.put(i, v); err != nil {
			return err
		}
	}
	return nil
}

// lowerStack gives every input a new dimension of 1 and joins them there.
func lowerStack(n *node) error {
	rank := n.rank(0) + 1
	axis, err := n.axis("AXIS", 0, rank)
	if err != nil {
		return err
	}
	if axis < 0 {
		axis += int64(rank)
	}
	in := n.ins()
	for i, v := range in {
		if !n.fact(i).Shape.Equal(n.fact(0).Shape) && n.fact(i).Shape.Static() && n.fact(0).Shape.Static() {
			return fault.New(fault.Shape, "input %d: want shape %v like input 0, got %v "+
				"[ohnn-input-shape-like]", i, n.fact(0).Shape, n.fact(i).Shape)
		}
		if in[i], err = n.add(&op.Unsqueeze{}, v, n.b.Int64s(axis)); err != nil {
			return err
		}
	}
	return n.emit(&op.Concat{Axis: axis}, in...)
}

// lowerSlice takes begin and size; a size of -1 goes to the end. A slice that reaches beyond a known dimension is an
// error, not cut off.
func lowerSlice(n *node) error {
	begin, err := n.list(1)
	if err != nil {
		return err
	}
	size, err := n.list(2)
	if err != nil {
		return err
	}
	var axes []int64
	if n.has("AXES") {
		axes = n.ints("AXES")
	}
	b, ok1 := n.b.Fact(begin).KnownInts()
	s, ok2 := n.b.Fact(size).KnownInts()
	if !ok1 || !ok2 {
		return n.emitSlice(begin, size, axes)
	}
	switch {
	case len(b) != len(s):
		return fault.New(fault.Argument, "input 1 has %d entries, input 2 has %d: want as many of each "+
			"[ohnn-input-entries-input]", len(b), len(s))
	case axes != nil && len(axes) != len(b):
		return fault.New(fault.Argument, "AXES: %v: want as many axes as input 1 has entries, %d "+
			"[ohnn-axes-input-entries]", axes, len(b))
	case axes == nil && len(b) > n.rank(0):
		return fault.New(fault.Argument, "input 1 has %d entries: %v has %d dimensions "+
			"[ohnn-input-entries-dimensions]", len(b), n.fact(0).Shape, n.rank(0))
	}
	ends := make([]int64, len(b))
	for i := range b {
		axis := int64(i)
		if axes != nil {
			axis = axes[i]
		}
		a, err := op.Axis(axis, n.rank(0))
		if err != nil {
			return fault.Wrap(err, "AXES")
		}
		dim := n.fact(0).Shape.Dims[a]
		if b[i] < 0 || s[i] < -1 || dim.Known() && (b[i] > dim.N || s[i] > dim.N-b[i]) {
			return fault.New(fault.Argument, "input 1, input 2: begin %d and size %d do not fit into dimension "+
				"%d of %v [ohnn-input-begin-size]", b[i],
				s[i], a, n.fact(0).Shape)
		}
		ends[i] = math.MaxInt64
		if s[i] >= 0 {
			ends[i] = b[i] + s[i]
		}
	}
	in := []graph.Value{n.in(0), n.called("input 1", n.b.Int64s(b...)), n.called("input 2", n.b.Int64s(ends...))}
	if axes != nil {
		in = append(in, n.param("AXES", axes...))
	}
	return n.emit(&op.Slice{Inside: true}, in...)
}

// emitSlice computes the ends while running.
func (n *node) emitSlice(begin, size graph.Value, axes []int64) error {
	var err error
	wide := func(v graph.Value) graph.Value {
		if err == nil {
			v, err = n.add(&op.Cast{To: tensor.Int64}, v)
		}
		return v
	}
	add := func(o graph.Op, in ...graph.Value) graph.Value {
		if err != nil {
			return graph.None
		}
		var v graph.Value
		v, err = n.add(o, in...)
		return v
	}
	begin, size = wide(begin), wide(size)
	end := add(&op.Add{}, begin, size)
	end = add(&op.Where{}, add(&op.Equal{}, size, n.int64(-1)), n.int64(math.MaxInt64), end)
	if err != nil {
		return err
	}
	in := []graph.Value{n.in(0), begin, n.called("input 2", end)}
	if axes != nil {
		in = append(in, n.param("AXES", axes...))
	}
	return n.emit(&op.Slice{Inside: true}, in...)
}

var padModes = []op.PadMode{op.PadConstant, op.PadReflect, op.PadSymmetric}

// lowerPad turns [rank][before, after] into all begins and then all ends.
func lowerPad(n *node) error {
	mode := n.int("PADDING_MODE", 0)
	if mode >= int64(len(padModes)) {
		return fault.New(fault.Argument, "PADDING_MODE: %d: want 0 (constant), 1 (reflect) or 2 (symmetric) "+
			"[ohnn-padding-mode-constant]", mode)
	}
	pads, err := n.integers(1)
	if err != nil {
		return err
	}
	if v, ok := n.b.Fact(pads).KnownInts(); ok {
		if len(v) != 2*n.rank(0) {
			return fault.New(fault.Shape, "input 1: %d numbers: want 2 for each of %d dimensions "+
				"[ohnn-input-numbers-dimensions]", len(v), n.rank(0))
		}
		var begins, ends []int64
		for i := 0; i < len(v); i += 2 {
			begins, ends = append(begins, v[i]), append(ends, v[i+1])
		}
		pads = n.called("input 1", n.b.Int64s(slices.Concat(begins, ends)...))
	} else {
		if pads, err = n.add(&op.Reshape{}, pads, n.b.Int64s(-1, 2)); err != nil {
			return err
		}
		if pads, err = n.add(&op.Transpose{}, pads, n.b.Int64s(1, 0)); err != nil {
			return err
		}
		if pads, err = n.add(&op.Reshape{}, pads, n.b.Int64s(-1)); err != nil {
			return err
		}
	}
	return n.emit(&op.Pad{Mode: padModes[mode], ClampMirror: true}, n.in(0), pads,
		n.called("CONSTANT_VALUE", n.b.Float32(n.float("CONSTANT_VALUE", 0))))
}

// lowerTile: multiples belong to the axes in order, or, when DIMS names as many, to those. More multiples than
// dimensions put dimensions of 1 in front.
func lowerTile(n *node) error {
	multiples, err := n.list(1)
	if err != nil {
		return err
	}
	m, ok := n.b.Fact(multiples).KnownInts()
	if !ok {
		return n.emitTile(multiples)
	}
	repeats := slices.Clone(m)
	for len(repeats) < n.rank(0) {
		repeats = append(repeats, 1)
	}
	if dims := n.ints("DIMS"); n.has("DIMS") && len(dims) == len(m) {
		for i := range repeats {
			repeats[i] = 1
		}
		for i, d := range dims {
			axis, err := op.Axis(d, n.rank(0))
			if err != nil {
				return fault.Wrap(err, "DIMS")
			}
			repeats[axis] = m[i]
		}
	}
	return n.emit(&op.Tile{}, n.in(0), n.called("input 1", n.b.Int64s(repeats...)))
}

// emitTile takes multiples that the run knows. Where not even their number is known before, DIMS must be as many.
func (n *node) emitTile(multiples graph.Value) error {
	multiples, err := n.add(&op.Cast{To: tensor.Int64}, multiples)
	if err != nil {
		return err
	}
	if multiples, err = n.add(&op.Reshape{}, multiples, n.b.Int64s(-1)); err != nil {
		return err
	}
	rank := n.rank(0)
	ones := n.called("input 1", n.b.Int64s(slices.Repeat([]int64{1}, rank)...))
	count := n.b.Fact(multiples).Shape.Dims[0]
	dims := n.ints("DIMS")
	if n.has("DIMS") && (!count.Known() || count.N == int64(len(dims))) {
		places := make([]int64, len(dims))
		for i, d := range dims {
			axis, err := op.Axis(d, rank)
			if err != nil {
				return fault.Wrap(err, "DIMS")
			}
			places[i] = int64(axis)
		}
		at := n.b.Const("", tensor.T(tensor.Int64, int64(len(places)), 1), tensor.Int64s(places...))
		if multiples, err = n.add(&op.ScatterND{}, ones, n.called("DIMS", at), multiples); err != nil {
			return err
		}
		return n.emit(&op.Tile{}, n.in(0), multiples)
	}
	// Fewer multiples than dimensions mean the first axes here, the last ones in core: ones behind them, as many as are
	// missing.
	if !count.Known() || count.N < int64(rank) {
		length, err := n.add(&op.Shape{}, multiples)
		if err != nil {
			return err
		}
		if length, err = n.add(&op.Max{}, length, n.b.Int64s(int64(rank))); err != nil {
			return err
		}
		if multiples, err = n.add(&op.Concat{}, multiples, ones); err != nil {
			return err
		}
		if multiples, err = n.add(&op.Slice{}, multiples, n.b.Int64s(0), length); err != nil {
			return err
		}
	}
	return n.emit(&op.Tile{}, n.in(0), multiples)
}

// lowerBroadcastTo: the result must have exactly the shape asked for.
func lowerBroadcastTo(n *node) error {
	if !n.has("SHAPE") {
		return fault.New(fault.Argument, "SHAPE is missing: it has no default [ohnn-shape-missing-no]")
	}
	want := n.ints("SHAPE")
	for _, d := range want {
		if d < 0 {
			return fault.New(fault.Argument, "SHAPE: %v: want sizes of 0 or more [ohnn-shape-sizes]", want)
		}
	}
	x := n.fact(0).Shape
	for i, d := range x.Dims {
		k := len(want) - len(x.Dims) + i
		if k < 0 || d.Known() && d.N != 1 && d.N != want[k] {
			return fault.New(fault.Shape, "SHAPE: %v: %v cannot be broadcast to it [ohnn-shape-broadcast]", want, x)
		}
	}
	return n.emit(&op.Expand{}, n.in(0), n.param("SHAPE", want...))
}

// lowerFill: the value may be given in any shape of one element.
func lowerFill(n *node) error {
	shape, err := n.list(1)
	if err != nil {
		return err
	}
	if err := n.wantRank(0, 0, 1); err != nil {
		return err
	}
	return n.emit(&op.Fill{}, shape, n.in(0))
}
