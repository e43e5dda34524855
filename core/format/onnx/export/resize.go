package export

import (
	"slices"

	"github.com/anynpu/anynpu/core/format/onnx/lower"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func resizeRules() []rule {
	return []rule{
		on(exportResize),
		on(func(n *node, o *op.GridSample) error {
			r, err := n.rank(0)
			if err != nil {
				return err
			}
			mode, _ := word(lower.ResizeModes, o.Mode)
			padding, _ := word(lower.GridPaddings, o.Padding)
			y := n.one("GridSample", []string{n.channels(r, o.ChannelsLast), n.as(1, n.dtype(0))}, text("mode", mode),
				text("padding_mode", padding), flag("align_corners", o.AlignCorners))
			return n.setImage(y, r, o.ChannelsLast, n.dtype(0))
		}),
		on(func(n *node, o *op.AffineGrid) error {
			return n.plain("AffineGrid", []string{n.x(0), n.vector(1)}, flag("align_corners", o.AlignCorners))
		}),
	}
}

// exportResize: the nearest cells of fixed sizes are gathered where ONNX has no word for their rule.
func exportResize(n *node, o *op.Resize) error {
	mode, _ := word(lower.ResizeModes, o.Mode)
	coord, has := word(lower.CoordModes, o.Coord)
	nearest, named := word(lower.NearestModes, o.Nearest)
	switch {
	case o.Coord == op.CoordHalfPixelClamped && o.Mode != op.ResizeCubic && !o.ExcludeOutside && !o.Antialias:
		coord, has = "half_pixel", true // a coordinate before the first cell gives that cell in any case
	case o.Coord == op.CoordTFHalfPixel:
		has = false // was taken out of ONNX
	}
	if o.Mode == op.ResizeNearest && (!has || !named) {
		return n.nearest(o)
	}
	if !has {
		return refuse("coordinates of mode %d", o.Coord)
	}
	attrs := []attr{text("mode", mode), text("coordinate_transformation_mode", coord)}
	if o.Mode == op.ResizeNearest {
		attrs = append(attrs, text("nearest_mode", nearest))
	}
	if o.Mode == op.ResizeCubic && o.CubicA != 0 {
		attrs = append(attrs, real("cubic_coeff_a", o.CubicA))
	}
	if o.ExcludeOutside {
		attrs = append(attrs, number("exclude_outside", 1))
	}
	if o.Antialias {
		attrs = append(attrs, number("antialias", 1))
	}
	if o.Coord == op.CoordTFCrop {
		attrs = append(attrs, real("extrapolation_value", o.Extrapolation))
	}
	if o.KeepAspect != op.AspectStretch {
		aspect, _ := word(lower.AspectModes, o.KeepAspect)
		attrs = append(attrs, text("keep_aspect_ratio_policy", aspect))
	}
	in := []string{n.x(0), "", "", ""}
	if o.Coord == op.CoordTFCrop {
		in[1] = n.as(1, tensor.Float32)
	}
	scaled := n.has(2) && !emptyList(n.fact(2))
	if scaled {
		in[2] = n.as(2, tensor.Float32)
	} else {
		in[3] = n.vector(3)
	}
	whole, err := n.wholeImage(o, scaled)
	if err != nil {
		return err
	}
	if whole != nil {
		copy(in[2:], whole)
	} else if len(o.Axes) > 0 {
		axes := slices.Clone(o.Axes)
		if r := n.fact(0).Shape.Rank(); r >= 0 { // ONNX Runtime keeps no aspect of axes that count from the end
			for i, a := range axes {
				if a < 0 {
					axes[i] = a + int64(r)
				}
			}
		}
		attrs = append(attrs, numbers("axes", axes...))
	}
	return n.plain("Resize", in, attrs...)
}

func emptyList(f tensor.Fact) bool {
	n, ok := f.Shape.Count()
	return ok && n == 0
}

// wholeImage are scales and sizes of all dimensions in place of those of some axes, nil where the node says them
// itself: runtimes compute that faster.
func (n *node) wholeImage(o *op.Resize, scaled bool) ([]string, error) {
	dims, ok := n.fact(0).Shape.Ints()
	if len(o.Axes) == 0 || scaled || !ok || o.KeepAspect != op.AspectStretch || o.Coord == op.CoordTFCrop {
		return nil, nil
	}
	sizes, ok := n.fact(3).KnownInts()
	if !ok {
		return nil, nil
	}
	axes, err := o.ResolveAxes(len(dims))
	if err != nil {
		return nil, err
	}
	all := slices.Clone(dims)
	for i, a := range axes {
		all[a] = sizes[i]
	}
	return []string{"", n.ints(all...)}, nil
}

// nearest gathers the cells of each axis.
func (n *node) nearest(o *op.Resize) error {
	dims, err := n.sizes(0)
	if err != nil {
		return err
	}
	axes, err := o.ResolveAxes(len(dims))
	if err != nil {
		return err
	}
	if o.Coord == op.CoordTFCrop {
		return refuse("cells of a region by the rule %d", o.Nearest)
	}
	var in, sizes []int64
	for _, a := range axes {
		in = append(in, dims[a])
	}
	var scales []float32
	if f := n.fact(2); n.has(2) && !emptyList(f) {
		if f.Const == nil || f.DType != tensor.Float32 {
			return refuse("scales that only a run knows, with a rule of rounding that ONNX does not have")
		}
		scales = mem.Elements[float32](f.Const.Data)
	} else if sizes, err = n.known(3, "sizes of a rule of rounding that it does not have"); err != nil {
		return err
	}
	extents, err := o.ExtentsOf(in, scales, sizes)
	if err != nil {
		return err
	}
	return n.move([]int{0}, func(x []string) (string, error) {
		y := x[0]
		for i, e := range extents {
			cell := o.NearestCells(e, 0, 0)
			cells := make([]int64, e.Out)
			for k := range cells {
				cells[k] = cell(int64(k))
			}
			if !slices.Equal(cells, count(e.In)) {
				y = n.one("Gather", []string{y, n.ints(cells...)}, number("axis", int64(axes[i])))
			}
		}
		return y, nil
	})
}

// count are the numbers below n.
func count(n int64) []int64 {
	list := make([]int64, n)
	for i := range list {
		list[i] = int64(i)
	}
	return list
}
