package export

import (
	"slices"

	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func shapeRules() []rule {
	return []rule{
		moving(func(n *node, o *op.Reshape, x string) (string, error) {
			sizes, known := n.fact(1).KnownInts()
			if !o.ZeroCopies && (!known || slices.Contains(sizes, 0)) {
				return n.one("Reshape", []string{x, n.vector(1)}, number("allowzero", 1)), nil
			}
			return n.one("Reshape", []string{x, n.vector(1)}), nil
		}),
		moving(func(n *node, o *op.Flatten, x string) (string, error) {
			return n.one("Flatten", []string{x}, number("axis", o.Axis)), nil
		}),
		moving(func(n *node, _ *op.Squeeze, x string) (string, error) {
			axes, known := n.fact(1).KnownInts()
			switch {
			case !n.has(1) || known && len(axes) == 0:
				return n.one("Squeeze", []string{x}), nil
			case known:
				r, err := n.rank(0)
				if err != nil {
					return "", err
				}
				return n.one("Squeeze", []string{x, n.ints(distinct(axes, r)...)}), nil
			}
			return n.one("Squeeze", []string{x, n.vector(1)}), nil
		}),
		moving(func(n *node, _ *op.Unsqueeze, x string) (string, error) {
			return n.one("Unsqueeze", []string{x, n.vector(1)}), nil
		}),
		moving(func(n *node, _ *op.Transpose, x string) (string, error) {
			if !n.has(1) {
				return n.one("Transpose", []string{x}), nil
			}
			perm, err := n.known(1, "the permutation")
			if err != nil {
				return "", err
			}
			r := int64(len(perm))
			for i, p := range perm {
				perm[i] = (p + r) % r
			}
			return n.one("Transpose", []string{x}, numbers("perm", perm...)), nil
		}),
		on(func(n *node, o *op.Concat) error {
			all := make([]int, len(n.n.In))
			for i := range all {
				all[i] = i
			}
			return n.move(all, func(x []string) (string, error) {
				return n.one("Concat", x, number("axis", o.Axis)), nil
			})
		}),
		on(exportSplit),
		moving(func(n *node, _ *op.Slice, x string) (string, error) {
			return n.one("Slice", []string{x, n.vector(1), n.vector(2), n.vector(3), n.vector(4)}), nil
		}),
		moving(exportStridedSlice),
		moving(func(n *node, _ *op.Expand, x string) (string, error) {
			return n.one("Expand", []string{x, n.vector(1)}), nil
		}),
		moving(exportTile),
		on(func(n *node, o *op.Shape) error {
			attrs := []attr{number("start", o.Start)}
			if o.HasEnd {
				attrs = append(attrs, number("end", o.End))
			}
			return n.set(0, n.one("Shape", []string{n.code(0)}, attrs...), tensor.Int64)
		}),
		on(func(n *node, _ *op.Size) error {
			return n.set(0, n.one("Size", []string{n.code(0)}), tensor.Int64)
		}),
		on(func(n *node, _ *op.Rank) error {
			return n.set(0, n.one("Size", []string{n.one("Shape", []string{n.code(0)})}), tensor.Int64)
		}),
		on(exportFill),
		on(func(n *node, _ *op.Range) error {
			d, in := n.dtype(0), make([]string, 3)
			as := d
			switch {
			case d == tensor.Float16 || d == tensor.BFloat16:
				as = tensor.Float64
			case d.IsInt() && d != tensor.Int16 && d != tensor.Int32:
				as = tensor.Int64
			}
			for i := range in {
				if in[i] = n.as(i, as); n.fact(i).Shape.Rank() != 0 {
					in[i] = n.reshape(in[i])
				}
			}
			return n.set(0, n.one("Range", in), as)
		}),
		on(func(n *node, o *op.EyeLike) error {
			d := n.drawnType()
			return n.set(0, n.one("EyeLike", []string{n.x(0)}, number("k", o.K), elementType("dtype", d)), d)
		}),
		moving(func(n *node, o *op.Trilu, x string) (string, error) {
			return n.one("Trilu", []string{x, n.scalar(1)}, flag("upper", o.Upper)), nil
		}),
		moving(func(n *node, o *op.CenterCropPad, x string) (string, error) {
			if len(o.Axes) == 0 {
				return n.one("CenterCropPad", []string{x, n.vector(1)}), nil
			}
			return n.one("CenterCropPad", []string{x, n.vector(1)}, numbers("axes", o.Axes...)), nil
		}),
		on(func(n *node, _ *op.NonZero) error {
			x := n.x(0)
			if d := n.dtype(0); d != tensor.Float32 && d != tensor.Bool && d != tensor.Int64 {
				x = n.cast(x, tensor.Bool)
			}
			return n.set(0, n.one("NonZero", []string{x}), tensor.Int64)
		}),
	}
}

// distinct are axes of a tensor of rank r, each once.
func distinct(axes []int64, r int) []int64 {
	var list []int64
	for _, a := range axes {
		if a < 0 {
			a += int64(r)
		}
		if !slices.Contains(list, a) {
			list = append(list, a)
		}
	}
	return list
}

// exportSplit: one of the sizes may be -1 in core.
func exportSplit(n *node, o *op.Split) error {
	var in []string
	var attrs []attr
	switch sizes, known := n.fact(1).KnownInts(); {
	case !n.has(1):
		attrs = []attr{number("num_outputs", int64(len(n.n.Out)))}
	case known && slices.Contains(sizes, -1):
		s := n.fact(0).Shape
		axis := o.Axis
		if s.Ranked && axis < 0 {
			axis += int64(s.Rank())
		}
		if !s.Ranked || !s.Dims[axis].Known() {
			return refuse("the size of a part that is the rest, of a tensor of unknown size")
		}
		rest := s.Dims[axis].N
		for _, v := range sizes {
			rest -= max(v, 0)
		}
		sizes = slices.Clone(sizes)
		sizes[slices.Index(sizes, -1)] = rest
		in = []string{n.ints(sizes...)}
	default:
		in = []string{n.vector(1)}
	}
	as := n.carried(0)
	x, d := n.code(0), n.fact(0).DType
	if !as {
		x, d = n.x(0), n.dtype(0)
	}
	attrs = append(attrs, number("axis", o.Axis))
	for k, y := range n.emit("Split", len(n.n.Out), append([]string{x}, in...), attrs...) {
		if as {
			n.put(k, y)
		} else if err := n.set(k, y, d); err != nil {
			return err
		}
	}
	return nil
}

// exportStridedSlice slices what the masks say, then drops and inserts dimensions.
func exportStridedSlice(n *node, o *op.StridedSlice, x string) (string, error) {
	if _, err := n.rank(0); err != nil {
		return "", err
	}
	var lists [3][]tensor.Dim
	for i := range lists {
		v, err := n.known(i+1, "begin, end and steps")
		if err != nil {
			return "", err
		}
		for _, x := range v {
			lists[i] = append(lists[i], tensor.D(x))
		}
	}
	dims := n.fact(0).Shape.Dims
	cuts, err := o.Cuts(lists[0], lists[1], lists[2], dims)
	if err != nil {
		return "", err
	}
	var starts, ends, axes, steps, drop, add []int64
	place := int64(0)
	for _, c := range cuts {
		switch {
		case c.Axis < 0:
			add = append(add, place)
		case !c.Whole:
			if !c.Known || !c.Count.Known() {
				return "", refuse("a part of dimension %d, whose size is not known", c.Axis)
			}
			end := c.First + c.Count.N*c.Step
			if end < 0 { // before the first element
				end = -1 << 63
			}
			starts, ends = append(starts, c.First), append(ends, end)
			axes, steps = append(axes, int64(c.Axis)), append(steps, c.Step)
		}
		if c.Drop {
			drop = append(drop, int64(c.Axis))
		} else {
			place++
		}
	}
	if len(axes) > 0 {
		x = n.one("Slice", []string{x, n.ints(starts...), n.ints(ends...), n.ints(axes...), n.ints(steps...)})
	}
	if len(drop) > 0 {
		x = n.one("Squeeze", []string{x, n.ints(drop...)})
	}
	if len(add) > 0 {
		x = n.one("Unsqueeze", []string{x, n.ints(add...)})
	}
	return x, nil
}

// exportTile: in core the shorter of sizes and repeats has ones in front.
func exportTile(n *node, _ *op.Tile, x string) (string, error) {
	r, err := n.rank(0)
	if err != nil {
		return "", err
	}
	count, ok := n.fact(1).Shape.Count()
	if !ok {
		return "", refuse("input 1: the number of repeats is not known")
	}
	repeats := n.vector(1)
	for ; r < int(count); r++ {
		x = n.one("Unsqueeze", []string{x, n.ints(0)})
	}
	if missing := r - int(count); missing > 0 {
		repeats = n.one("Concat", []string{n.ints(slices.Repeat([]int64{1}, missing)...), repeats}, number("axis", 0))
	}
	return n.one("Tile", []string{x, repeats}), nil
}

// exportFill: ONNX has a constant value as an attribute, another is expanded.
func exportFill(n *node, _ *op.Fill) error {
	f := n.fact(1)
	if n.carried(1) && f.Const != nil {
		var t message
		t.varint(1, 1)
		t.varint(2, elementNumber(f.DType))
		t.bytes(9, f.Const.Data)
		n.put(0, n.one("ConstantOfShape", []string{n.vector(0)}, tensorOf("value", &t)))
		return nil
	}
	return n.move([]int{1}, func(x []string) (string, error) {
		return n.one("Expand", []string{n.reshape(x[0]), n.vector(0)}), nil
	})
}
