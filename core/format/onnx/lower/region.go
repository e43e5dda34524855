package lower

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

var regionOperators = []Operator{
	{"", "NonMaxSuppression", 10, withAttrs(func(n *node) graph.Op {
		return &op.NonMaxSuppression{CenterBox: n.int(
			"center_point_box", 0) != 0}
	})},
	{"", "RoiAlign", 10, lowerRoiAlign},
	{"", "MaxRoiPool", 1, lowerMaxRoiPool},
	{"", "MaxUnpool", 9, withAttrs(func(n *node) graph.Op {
		return &op.MaxUnpool{Kernel: n.ints("kernel_shape"), Strides: n.ints("strides"), Pads: n.ints("pads")}
	})},
	{"", "Col2Im", 18, func(n *node) error {
		o := &op.Col2Im{Strides: n.ints("strides"), Dilations: n.ints("dilations"), Pads: n.ints("pads")}
		return n.emit(o, n.in...)
	}},
	{"", "DeformConv", 19, lowerDeformConv},
}

// lowerRoiAlign: before opset 16 the corners are not shifted by half a pixel.
func lowerRoiAlign(n *node) error {
	o := &op.RoiAlign{Height: n.int("output_height", 1), Width: n.int("output_width", 1),
		SamplesHeight: n.int("sampling_ratio", 0),
		SamplesWidth:  n.int("sampling_ratio", 0), ScaleHeight: n.float("spatial_scale", 1),
		ScaleWidth: n.float("spatial_scale", 1)}
	var err error
	if o.Mode, err = choice(n, "mode", "avg", map[string]op.RoiMode{"avg": op.RoiAverage,
		"max": op.RoiMaxWeighted}); err != nil {
		return err
	}
	otherwise := "half_pixel"
	if n.version < 16 {
		otherwise = "output_half_pixel"
	}
	o.HalfPixel, err = choice(n, "coordinate_transformation_mode", otherwise, map[string]bool{"half_pixel": true,
		"output_half_pixel": false})
	if err != nil {
		return err
	}
	return n.emit(o, n.in...)
}

func lowerMaxRoiPool(n *node) error {
	shape := n.ints("pooled_shape")
	if len(shape) != 2 {
		return fault.New(fault.File, "attribute pooled_shape: %v", shape)
	}
	scale := n.float("spatial_scale", 1)
	return n.emit(&op.MaxRoiPool{Height: shape[0], Width: shape[1], ScaleHeight: scale, ScaleWidth: scale}, n.in...)
}

func lowerDeformConv(n *node) error {
	if err := n.want(3, 5); err != nil {
		return err
	}
	groups := n.int("group", 1)
	w, err := n.filter(1, false, groups)
	if err != nil {
		return err
	}
	in := append([]graph.Value{n.arg(0), w}, n.in[2:]...)
	return n.emit(&op.DeformConv{Strides: n.ints("strides"), Dilations: n.ints("dilations"), Pads: n.ints("pads"),
		Groups:       groups,
		OffsetGroups: n.int("offset_group", 1)}, in...)
}
