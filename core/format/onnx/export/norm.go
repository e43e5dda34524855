package export

import (
	"slices"

	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func normRules() []rule {
	return []rule{
		on(exportBatchNorm),
		on(func(n *node, o *op.InstanceNorm) error {
			r, err := n.rank(0)
			if err != nil {
				return err
			}
			last := r > 2 && (o.Axis+int64(r))%int64(r) == int64(r-1)
			if !last && (o.Axis+int64(r))%int64(r) != 1 {
				return refuse("channels on dimension %d of %d", o.Axis, r)
			}
			d := n.dtype(0)
			in := []string{n.channels(r, last), n.as(1, d), n.as(2, d)}
			y := n.one("InstanceNormalization", in, real("epsilon", o.Epsilon))
			return n.setImage(y, r, last, d)
		}),
		on(exportLayerNorm),
		on(func(n *node, o *op.RMSNorm) error {
			r, err := n.rank(0)
			if err != nil {
				return err
			}
			d := n.dtype(0)
			axis := o.Axis
			if axis < 0 {
				axis += int64(r)
			}
			var axes []int64
			for a := axis; a < int64(r); a++ {
				axes = append(axes, a)
			}
			mean := n.one("ReduceMean", []string{n.one("Mul", []string{n.x(0), n.x(0)}), n.ints(axes...)})
			mean = n.one("Add", []string{mean, n.number(d, float64(o.Epsilon))})
			y := n.one("Div", []string{n.x(0), n.one("Sqrt", []string{mean})})
			return n.set(0, n.one("Mul", []string{y, n.as(1, d)}), d)
		}),
		on(func(n *node, o *op.GroupNorm) error {
			r, err := n.rank(0)
			if err != nil {
				return err
			}
			d := n.dtype(0)
			y := n.one("GroupNormalization", []string{n.channels(r, o.ChannelsLast), n.as(1, d), n.as(2, d)},
				number("num_groups", o.Groups), real("epsilon", o.Epsilon))
			return n.setImage(y, r, o.ChannelsLast, d)
		}),
		on(func(n *node, o *op.LpNorm) error {
			p := o.P
			if p == 0 {
				p = 2
			}
			return n.plain("LpNormalization", n.xs(), number("axis", o.Axis), number("p", p))
		}),
		on(func(n *node, o *op.L2Normalize) error {
			d := n.dtype(0)
			sum := n.one("ReduceSum", []string{n.one("Mul", []string{n.x(0), n.x(0)}), n.vector(1)})
			how := "Max"
			if o.Mode == op.EpsAdd {
				how = "Add"
			}
			sum = n.one(how, []string{sum, n.number(d, float64(o.Epsilon))})
			return n.plain("Div", []string{n.x(0), n.one("Sqrt", []string{sum})})
		}),
		on(exportLRN),
	}
}

// channels is x(0) with its channels as dimension 1.
func (n *node) channels(r int, last bool) string { return n.first(n.x(0), r, last) }

// exportBatchNorm: ONNX has the channels as dimension 1; on another they are broadcast.
func exportBatchNorm(n *node, o *op.BatchNorm) error {
	r, err := n.rank(0)
	if err != nil {
		return err
	}
	d := n.dtype(0)
	axis := (o.Axis + int64(r)) % int64(r)
	if axis == 1 && r >= 2 {
		in := []string{n.x(0), n.as(1, d), n.as(2, d), n.as(3, d), n.as(4, d)}
		return n.set(0, n.one("BatchNormalization", in, real("epsilon", o.Epsilon)), d)
	}
	dims := []int64{-1}
	for i := int(axis) + 1; i < r; i++ {
		dims = append(dims, 1)
	}
	per := func(i int) string {
		if len(dims) == 1 {
			return n.as(i, d)
		}
		return n.reshape(n.as(i, d), dims...)
	}
	dev := n.one("Sqrt", []string{n.one("Add", []string{per(4), n.number(d, float64(o.Epsilon))})})
	y := n.one("Div", []string{n.one("Sub", []string{n.x(0), per(3)}), dev})
	return n.set(0, n.one("Add", []string{n.one("Mul", []string{y, per(1)}), per(2)}), d)
}

// exportLayerNorm: ONNX wants a scale of the normalized sizes; others are applied afterwards.
func exportLayerNorm(n *node, o *op.LayerNorm) error {
	r, err := n.rank(0)
	if err != nil {
		return err
	}
	axis := o.Axis
	if axis < 0 {
		axis += int64(r)
	}
	d := n.dtype(0)
	x := n.fact(0).Shape.Dims[axis:]
	fits := func(i int) bool {
		return !n.has(i) || n.fact(i).Shape.Equal(tensor.OfDims(x...))
	}
	in := []string{n.x(0), n.as(1, d), n.as(2, d)}
	after := !n.has(1) || !fits(1) || !fits(2)
	if after {
		size, ok := tensor.OfDims(x...).Ints()
		if ok {
			count, _ := tensor.Count(size)
			in[1] = n.list1(d, size, slices.Repeat([]float64{1}, int(count))...)
		} else {
			in[1] = n.one("Expand", []string{n.number(d, 1), n.one("Shape", []string{n.code(0)}, number("start", axis))})
		}
		in[2] = ""
	}
	out := n.emit("LayerNormalization", max(1, len(n.n.Out)), in, number("axis", o.Axis), real("epsilon", o.Epsilon))
	y := out[0]
	if after && n.has(1) {
		y = n.one("Mul", []string{y, n.as(1, d)})
	}
	if after && n.has(2) {
		y = n.one("Add", []string{y, n.as(2, d)})
	}
	for k := 1; k < len(out); k++ {
		if err := n.set(k, out[k], tensor.Float32); err != nil {
			return err
		}
	}
	return n.set(0, y, d)
}

// exportLRN: ONNX counts size channels around each, the longer side after it.
func exportLRN(n *node, o *op.LRN) error {
	r, err := n.rank(0)
	if err != nil {
		return err
	}
	size := o.Before + o.After + 1
	if o.Before != (size-1)/2 {
		return refuse("sums over %d channels before and %d after each; ONNX has as many on both sides", o.Before, o.After)
	}
	alpha := o.Alpha
	if !o.DivideAlpha {
		alpha *= float32(size)
	}
	axis := (o.Axis + int64(r)) % int64(r)
	perm := make([]int64, 0, r)
	for i := range int64(r) {
		if i != axis {
			perm = append(perm, i)
		}
	}
	if r < 2 {
		return refuse("channels of a list")
	}
	perm = slices.Insert(perm, 1, axis)
	x := n.transpose(n.x(0), perm...)
	attrs := []attr{number("size", size), real("alpha", alpha), real("beta", o.Beta), real("bias", o.Bias)}
	if r >= 4 {
		return n.set(0, n.transpose(n.one("LRN", []string{x}, attrs...), inverse(perm)...), n.dtype(0))
	}
	more := []int64{2, 3}[:4-r]
	if r == 3 {
		more = []int64{3}
	}
	y := n.one("LRN", []string{n.one("Unsqueeze", []string{x, n.ints(more...)})}, attrs...)
	return n.set(0, n.transpose(n.one("Squeeze", []string{y, n.ints(more...)}), inverse(perm)...), n.dtype(0))
}
