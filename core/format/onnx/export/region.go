package export

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func regionRules() []rule {
	return []rule{
		on(exportRoiAlign),
		on(exportMaxRoiPool),
		on(exportMaxUnpool),
		on(func(n *node, o *op.Col2Im) error {
			return n.plain("Col2Im", []string{n.x(0), n.vector(1), n.vector(2)}, n.sliding(o.Strides, o.Dilations, o.Pads,
				op.PadExplicit, nil)...)
		}),
		on(exportBoxTransform),
	}
}

// scaled are the regions x, with four numbers each, in cells.
func (n *node) scaled(x string, d tensor.DType, height, width float32) string {
	w, h := float64(width), float64(height)
	return n.one("Mul", []string{x, n.list1(d, []int64{4}, w, h, w, h)})
}

func orOne(x float32) float32 {
	if x == 0 {
		return 1
	}
	return x
}

func exportRoiAlign(n *node, o *op.RoiAlign) error {
	r, err := n.rank(0)
	if err != nil {
		return err
	}
	if o.SamplesHeight != o.SamplesWidth {
		return refuse("%d x %d samples of a bin; ONNX has one number for both", o.SamplesHeight, o.SamplesWidth)
	}
	mode := "avg"
	switch o.Mode {
	case op.RoiMax:
		return refuse("the largest sample of a bin; that of ONNX is the largest of the weighted neighbours")
	case op.RoiMaxWeighted:
		mode = "max"
	}
	d := n.dtype(0)
	how, height, width := "output_half_pixel", orOne(o.ScaleHeight), orOne(o.ScaleWidth)
	if o.HalfPixel {
		how = "half_pixel"
	}
	rois := n.as(1, d)
	if height != width {
		rois, height = n.scaled(rois, d, height, width), 1
	}
	y := n.one("RoiAlign", []string{n.channels(r, o.ChannelsLast), rois, n.long(2)}, text("mode", mode),
		number("output_height", o.Height), number("output_width", o.Width), number("sampling_ratio", o.SamplesHeight),
		real("spatial_scale", height), text("coordinate_transformation_mode", how))
	return n.setImage(y, r, o.ChannelsLast, d)
}

func exportMaxRoiPool(n *node, o *op.MaxRoiPool) error {
	r, err := n.rank(0)
	if err != nil {
		return err
	}
	d := n.dtype(0)
	height, width := orOne(o.ScaleHeight), orOne(o.ScaleWidth)
	rois := n.as(1, d)
	if !n.has(2) && height != width {
		parts := n.emit("Split", 2, []string{rois, n.ints(1, 4)}, number("axis", 1))
		rois = n.one("Concat", []string{parts[0], n.scaled(parts[1], d, height, width)}, number("axis", 1))
		height = 1
	}
	if n.has(2) {
		if height != width {
			rois, height = n.scaled(rois, d, height, width), 1
		}
		batch := n.reshape(n.cast(n.code(2), d), -1, 1)
		rois = n.one("Concat", []string{batch, rois}, number("axis", 1))
	}
	y := n.one("MaxRoiPool", []string{n.channels(r, o.ChannelsLast), rois}, numbers("pooled_shape", o.Height, o.Width),
		real("spatial_scale", height))
	return n.setImage(y, r, o.ChannelsLast, d)
}

// exportBoxTransform moves the boxes of each class: [N,C,1] numbers of the parts of deltas and boxes.
func exportBoxTransform(n *node, _ *op.AxisAlignedBoxTransform) error {
	d := n.dtype(0)
	boxes, deltas, images := n.x(0), n.as(1, d), n.as(3, d)
	part := func(x string, i int64, axis int64) string {
		return n.one("Slice", []string{x, n.ints(i), n.ints(i + 1), n.ints(axis)})
	}
	box := n.emit("Split", 4, []string{boxes}, number("axis", 1), number("num_outputs", 4))         // [N,1]
	all := n.one("Reshape", []string{deltas, n.ints(0, -1, 4)})                                     // 0: as many as there are
	delta := func(i int64) string { return n.one("Squeeze", []string{part(all, i, 2), n.ints(2)}) } // [N,C]
	size := n.one("Gather", []string{images, n.indices(2)}, number("axis", 0))
	height, width := part(size, 0, 1), part(size, 1, 1)
	half := n.number(d, 0.5)
	mul := func(a, b string) string { return n.one("Mul", []string{a, b}) }
	add := func(a, b string) string { return n.one("Add", []string{a, b}) }
	sub := func(a, b string) string { return n.one("Sub", []string{a, b}) }
	var lines [2][2]string // x and y: beginnings and ends
	for i := range int64(2) {
		from, to := box[i], box[i+2]
		length := sub(to, from)
		centre := add(mul(add(from, to), half), mul(delta(i), length))
		reach := mul(mul(n.one("Exp", []string{delta(i + 2)}), length), half)
		limit := width
		if i == 1 {
			limit = height
		}
		cut := func(v string) string { return n.one("Min", []string{n.one("Max", []string{v, n.number(d, 0)}), limit}) }
		lines[i] = [2]string{cut(sub(centre, reach)), cut(add(centre, reach))}
	}
	var columns []string
	for _, v := range []string{lines[0][0], lines[1][0], lines[0][1], lines[1][1]} {
		columns = append(columns, n.one("Unsqueeze", []string{v, n.ints(2)}))
	}
	y := n.one("Flatten", []string{n.one("Concat", columns, number("axis", 2))}, number("axis", 1))
	return n.set(0, y, d)
}

// exportMaxUnpool: ONNX puts back floats; integers are numbers of double.
func exportMaxUnpool(n *node, o *op.MaxUnpool) error {
	attrs := []attr{numbers("kernel_shape", o.Kernel...)}
	if len(o.Strides) > 0 {
		attrs = append(attrs, numbers("strides", o.Strides...))
	}
	if len(o.Pads) > 0 {
		attrs = append(attrs, numbers("pads", o.Pads...))
	}
	d := n.fact(0).DType
	if d.IsInt() && d.Bits() == 64 || d == tensor.Bool {
		return refuse("elements of %v; MaxUnpool has floats", d)
	}
	return n.move([]int{0}, func(x []string) (string, error) {
		whole := n.carried(0) && d.IsInt()
		if whole {
			x[0] = n.cast(x[0], tensor.Float64)
		}
		y := n.one("MaxUnpool", []string{x[0], n.long(1), n.vector(2)}, attrs...)
		if whole {
			y = n.cast(y, d)
		}
		return y, nil
	})
}
