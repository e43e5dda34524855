package ohnn

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	lowerAll(map[string]func(n *node) error{
		"GATHER_ND":         withInts(func(n *node) graph.Op { return &op.GatherND{} }),
		"STRIDED_SLICE":     lowerStridedSlice,
		"ONE_HOT":           lowerOneHot,
		"SCATTER_ND":        lowerScatterND,
		"SPARSE_TO_DENSE":   lowerSparseToDense,
		"RANGE":             lowerRange,
		"CONSTANT_OF_SHAPE": lowerConstantOfShape,
		"CROP":              lowerCrop,
	})
}

// matrix returns a list of pairs as a constant [n,2].
func (n *node) matrix(v []int64) graph.Value {
	return n.b.Const("", tensor.T(tensor.Int64, int64(len(v)/2), 2), tensor.Int64s(v...))
}

func lowerStridedSlice(n *node) error {
	if s := n.fact(1).Shape; s.Rank() == 1 && s.Dims[0].Known() {
		entries := min(s.Dims[0].N, 63)
		if m := n.int("ELLIPSIS_MASK", 0) & (1<<entries - 1); m&(m-1) != 0 {
			return fault.New(fault.Argument, "ELLIPSIS_MASK: %#x: want at most one bit for the %d entries "+
				"[ohnn-ellipsis-mask-bit]", m, entries)
		}
	}
	return withInts(stridedSlice)(n)
}

func stridedSlice(n *node) graph.Op {
	return &op.StridedSlice{BeginMask: n.int("BEGIN_MASK", 0), EndMask: n.int("END_MASK", 0),
		EllipsisMask: n.int("ELLIPSIS_MASK", 0),
		NewAxisMask:  n.int("NEW_AXIS_MASK", 0), ShrinkAxisMask: n.int("SHRINK_AXIS_MASK", 0)}
}

// lowerOneHot: an index outside [0, depth) gives off values only.
func lowerOneHot(n *node) error {
	in := n.ins()
	for i := range 2 {
		v, err := n.integers(i)
		if err != nil {
			return err
		}
		in[i] = v
	}
	axis, err := n.axis("AXIS", -1, n.rank(0)+1)
	if err != nil {
		return err
	}
	return n.emit(&op.OneHot{Axis: axis, Outside: op.OneHotOff}, in...)
}

// lowerScatterND scatters into zeros; of duplicates the last wins.
func lowerScatterND(n *node) error {
	if err := n.wantRank(0, 1, -1); err != nil {
		return err
	}
	indices, err := n.integers(0)
	if err != nil {
		return err
	}
	shape, err := n.list(2)
	if err != nil {
		return err
	}
	return n.scatter(shape, indices, n.in(1))
}

// scatter makes output 0 zeros of a shape with updates in the places that indices name.
func (n *node) scatter(shape, indices, updates graph.Value) error {
	zeros, err := n.add(&op.Fill{}, shape, n.zero(n.b.Fact(updates).Type))
	if err != nil {
		return err
	}
	return n.emit(&op.ScatterND{}, zeros, indices, updates)
}

// lowerSparseToDense: indices [N,k], values [N] or one for all. Indices of rank 1 are N places of a vector, or one
// place.
func lowerSparseToDense(n *node) error {
	for i, hi := range []int{2, 1, 1} {
		if err := n.wantRank(i, 0, hi); err != nil {
			return err
		}
	}
	indices, err := n.integers(0)
	if err != nil {
		return err
	}
	shape, err := n.list(2)
	if err != nil {
		return err
	}
	if n.rank(0) == 1 {
		axis := int64(0)
		if s := n.fact(2).Shape; s.Rank() == 1 && s.Dims[0].Known() && s.Dims[0].N == 1 {
			axis = 1
		}
		if indices, err = n.add(&op.Unsqueeze{}, indices, n.b.Int64s(axis)); err != nil {
			return err
		}
	}
	values := n.in(1)
	if c, ok := n.fact(1).Shape.Count(); ok && c == 1 {
		count, err := n.add(&op.Shape{Start: 0, End: 1, HasEnd: true}, indices)
		if err != nil {
			return err
		}
		if values, err = n.add(&op.Reshape{}, values, n.b.Int64s(1)); err != nil {
			return err
		}
		if values, err = n.add(&op.Expand{}, values, count); err != nil {
			return err
		}
	}
	return n.scatter(shape, indices, values)
}

// lowerRange counts in integers; the declared output, else the input, says what type they become. Quantized, the
// numbers are the real values.
func lowerRange(n *node) error {
	v, err := n.add(&op.Range{}, n.called("START", n.int64(n.int("START", 0))),
		n.called("LIMIT", n.int64(n.int("LIMIT", 0))),
		n.called("DELTA", n.int64(n.int("DELTA", 1))))
	if err != nil {
		return err
	}
	to := n.outType(0)
	switch {
	case to.Quant != nil:
		if v, err = n.real(v); err != nil {
			return err
		}
		return n.put(0, v)
	case to.DType == tensor.Bool:
		return fault.New(fault.Type, "bool does not count: want a number as output [ohnn-bool-count-number]")
	case to.DType == tensor.Invalid:
		to.DType = n.fact(0).DType
	}
	return n.emit(&op.Cast{To: to.DType}, v)
}

// lowerConstantOfShape goes by the declared output type: DATA_TYPE is a number of some back end's own.
func lowerConstantOfShape(n *node) error {
	shape, err := n.integers(0)
	if err != nil {
		return err
	}
	x := float32(0)
	if v := n.floats("VALUE"); len(v) > 0 {
		x = v[0]
	}
	value, to := n.b.Float32(x), n.outType(0)
	switch {
	case to.Quant != nil:
		to.Shape = tensor.AnyShape()
		out, err := n.addTyped(&op.Convert{}, []tensor.Type{to}, value)
		if err != nil {
			return err
		}
		value = out[0]
	case to.DType != tensor.Float32 && to.DType != tensor.Invalid:
		if value, err = n.add(&op.Cast{To: to.DType, OutOfRange: op.CastSaturate}, value); err != nil {
			return err
		}
	}
	return n.emit(&op.Fill{}, shape, value)
}

// lowerCrop cuts dimensions from AXIS on to a reference shape: the values of input 1 if it lists as many as x has
// dimensions and those are more than one, else its dimensions.
func lowerCrop(n *node) error {
	x := n.fact(0).Shape
	rank := x.Rank()
	axis, err := op.Axis(n.int("AXIS", 0), rank)
	if err != nil {
		return fault.Wrap(err, "AXIS")
	}
	offsets := make([]int64, rank-axis)
	switch given := n.ints("OFFSET"); {
	case len(given) == 1:
		for i := range offsets {
			offsets[i] = given[0]
		}
	case len(given) == len(offsets):
		copy(offsets, given)
	case len(given) != 0:
		return fault.New(fault.Argument, "OFFSET: %v: want none, one, or one for each of %d dimensions "+
			"[ohnn-offset-dimensions]", given, len(offsets))
	}
	ref := n.fact(1).Shape
	var sizes graph.Value
	if ref.Rank() == 1 && rank > 1 && ref.Dims[0].Known() && ref.Dims[0].N == int64(rank) {
		if sizes, err = n.integers(1); err == nil {
			sizes, err = n.add(&op.Cast{To: tensor.Int64}, sizes)
		}
	} else {
		if ref.Rank() != rank {
			return fault.New(fault.Shape, "input 1: %v: want %d values or rank %d "+
				"[ohnn-input-values-rank]", ref, rank, rank)
		}
		sizes, err = n.add(&op.Shape{}, n.in(1))
	}
	if err != nil {
		return err
	}
	if sizes, err = n.add(&op.Slice{}, sizes, n.b.Int64s(int64(axis)), n.b.Int64s(int64(rank))); err != nil {
		return err
	}
	axes := make([]int64, len(offsets))
	known := n.b.Fact(sizes).IntValues()
	for i, o := range offsets {
		axes[i] = int64(axis + i)
		d := x.Dims[axis+i]
		if o < 0 || d.Known() && i < len(known) && known[i].Known() && (known[i].N < 0 || known[i].N > d.N-o) {
			return fault.New(fault.Argument, "OFFSET: dimension %d of %v: offset %d and size %v do not fit "+
				"[ohnn-offset-dimension-offset]", axis+i, x, o, known)
		}
	}
	start := n.param("OFFSET", offsets...)
	ends, err := n.add(&op.Add{}, start, sizes)
	if err != nil {
		return err
	}
	return n.emit(&op.Slice{Inside: true}, n.in(0), start, ends, n.b.Int64s(axes...))
}
