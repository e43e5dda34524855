package lower

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

var resizeOperators = []Operator{
	{"", "Resize", 10, lowerResize},
	{"", "Upsample", 7, lowerUpsample},
	{"", "GridSample", 16, lowerGridSample},
	{"", "AffineGrid", 20, withAttrs(func(n *node) graph.Op {
		return &op.AffineGrid{AlignCorners: n.int("align_corners",
			0) != 0}
	})},
}

var (
	ResizeModes = map[string]op.ResizeMode{"nearest": op.ResizeNearest, "linear": op.ResizeLinear,
		"bilinear": op.ResizeLinear,
		"cubic":    op.ResizeCubic, "bicubic": op.ResizeCubic}
	CoordModes = map[string]op.Coord{"half_pixel": op.CoordHalfPixel, "half_pixel_symmetric": op.CoordHalfPixelSymmetric,
		"pytorch_half_pixel": op.CoordPytorchHalfPixel, "align_corners": op.CoordAlignCorners,
		"asymmetric":         op.CoordAsymmetric,
		"tf_crop_and_resize": op.CoordTFCrop, "tf_half_pixel_for_nn": op.CoordTFHalfPixel} // the last in opset 11 only
	NearestModes = map[string]op.NearestMode{"round_prefer_floor": op.NearestRoundPreferFloor,
		"round_prefer_ceil": op.NearestRoundPreferCeil,
		"floor":             op.NearestFloor, "ceil": op.NearestCeil}
	AspectModes = map[string]op.AspectMode{"stretch": op.AspectStretch, "not_larger": op.AspectNotLarger,
		"not_smaller": op.AspectNotSmaller}
	GridPaddings = map[string]op.GridPadding{"zeros": op.GridZeros, "border": op.GridBorder,
		"reflection": op.GridReflection}
)

// choice reads a string attribute that names one of a set.
func choice[V any](n *node, name, otherwise string, of map[string]V) (V, error) {
	s := n.string(name, otherwise)
	v, ok := of[s]
	if !ok {
		return v, fault.New(fault.File, "attribute %s: %q", name, s)
	}
	return v, nil
}

// lowerResize: opset 10 has scales as input 1 and the coordinates of Upsample, later ones roi, scales and sizes.
func lowerResize(n *node) error {
	if n.version < 11 {
		return lowerUpsample(n)
	}
	if err := n.want(1, 4); err != nil {
		return err
	}
	o := &op.Resize{CubicA: n.float("cubic_coeff_a", -0.75), ExcludeOutside: n.int("exclude_outside", 0) != 0,
		Antialias:     n.int("antialias", 0) != 0,
		Extrapolation: n.float("extrapolation_value", 0), Axes: n.ints("axes")}
	var err error
	if o.Mode, err = choice(n, "mode", "nearest", ResizeModes); err != nil {
		return err
	}
	if o.Coord, err = choice(n, "coordinate_transformation_mode", "half_pixel", CoordModes); err != nil {
		return err
	}
	if o.Nearest, err = choice(n, "nearest_mode", "round_prefer_floor", NearestModes); err != nil {
		return err
	}
	if o.KeepAspect, err = choice(n, "keep_aspect_ratio_policy", "stretch", AspectModes); err != nil {
		return err
	}
	in := []graph.Value{n.arg(0), graph.None, n.arg(2), n.arg(3)}
	if o.Coord == op.CoordTFCrop {
		in[1] = n.arg(1)
	}
	return n.emit(o, in...)
}

// lowerUpsample: the scales are an attribute in opset 7, input 1 since.
func lowerUpsample(n *node) error {
	mode, err := choice(n, "mode", "nearest", ResizeModes)
	if err != nil {
		return err
	}
	if a := n.p.Attrs["scales"]; a != nil {
		return n.upsample(mode, n.b.Const("", tensor.T(tensor.Float32, int64(len(a.Floats))), tensor.Float32s(a.Floats...)))
	}
	return n.upsample(mode, n.arg(1))
}

// upsample is the resampling before opset 11: coordinates o/scale. Nearest rounds them down where an axis grows, and up
// where it shrinks, as the data of the ONNX project for opset 10 have it.
func (n *node) upsample(mode op.ResizeMode, scales graph.Value) error {
	return n.emit(&op.Resize{Mode: mode, Coord: op.CoordAsymmetric, Nearest: op.NearestCeilBelowOne}, n.arg(0),
		graph.None, scales)
}

func lowerGridSample(n *node) error {
	o := &op.GridSample{AlignCorners: n.int("align_corners", 0) != 0}
	var err error
	if o.Mode, err = choice(n, "mode", "linear", ResizeModes); err != nil {
		return err
	}
	if o.Padding, err = choice(n, "padding_mode", "zeros", GridPaddings); err != nil {
		return err
	}
	return n.emit(o, n.in...)
}

// choiceInt reads an integer attribute that is an index of a list; 0 where it is absent.
func choiceInt[V any](n *node, name string, of []V) (V, error) {
	i := n.int(name, 0)
	if i < 0 || i >= int64(len(of)) {
		var none V
		return none, fault.New(fault.File, "attribute %s: %d", name, i)
	}
	return of[i], nil
}
