package nnapi

import (
	"math"
	"slices"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	spec "github.com/anynpu/anynpu/core/spec/nnapi"
)

func init() {
	register(map[string]func(t *translation) error{"resize": lowerResize})
}

// corner is a way of the API to find the place in x for a cell of the result: the flags for aligned corners and half
// pixels, and the place, of the smallest cell when it is a whole one that is sought.
type corner struct {
	align, half bool
	linear      func(o, in, out float64) float64
	nearest     func(o, in, out float64) float64
}

var corners = []corner{
	{false, false, func(o, in, out float64) float64 { return o * in / out },
		func(o, in, out float64) float64 { return math.Floor(o * in / out) }},
	{false, true, func(o, in, out float64) float64 { return (o+0.5)*in/out - 0.5 },
		func(o, in, out float64) float64 { return math.Floor((o + 0.5) * in / out) }},
	{true, false, func(o, in, out float64) float64 { return o * (in - 1) / max(out-1, 1) },
		func(o, in, out float64) float64 { return math.Floor(o*(in-1)/max(out-1, 1) + 0.5) }},
}

// placesOf is where the cells of a resized axis read x, by core's definition.
func placesOf(o *op.Resize, e op.Extent) func(i int64) float64 {
	if o.Mode == op.ResizeNearest {
		at := o.NearestCells(e, 0, 0)
		return func(i int64) float64 { return float64(at(i)) }
	}
	return func(i int64) float64 { return placeOf(o, e, float64(i)) }
}

// placeOf is where cell i reads x for interpolation.
func placeOf(o *op.Resize, e op.Extent, i float64) float64 {
	in, out, scale := float64(e.In), float64(e.Out), float64(e.Scale)
	if e.Scale == float32(e.Out)/float32(e.In) {
		scale = out / in // as exact as the sizes
	}
	v := (i+0.5)/scale - 0.5
	switch {
	case o.Coord == op.CoordAsymmetric:
		v = i / scale
	case o.Coord == op.CoordAlignCorners:
		v = i * (in - 1) / max(out-1, 1)
	case o.Coord == op.CoordPytorchHalfPixel && e.Out == 1:
		v = 0
	case o.Coord == op.CoordHalfPixelSymmetric:
		v += in / 2 * (1 - out/(scale*in))
	case o.Coord == op.CoordTFHalfPixel:
		v += 0.5
	}
	return v
}

// cornerOf is the API's way that reads x where core does; err says that there is none.
func cornerOf(o *op.Resize, extents []op.Extent) (c corner, err error) {
	fits := func(c corner, e op.Extent) bool {
		place := c.linear
		if o.Mode == op.ResizeNearest {
			place = c.nearest
		}
		inside := func(v float64) float64 { return min(max(v, 0), float64(e.In-1)) }
		at := placesOf(o, e)
		for i := range e.Out {
			want, got := at(i), place(float64(i), float64(e.In), float64(e.Out))
			if math.Abs(inside(got)-inside(want)) > 1e-6 {
				return false
			}
		}
		return true
	}
	for _, c := range corners {
		if !slices.ContainsFunc(extents, func(e op.Extent) bool { return !fits(c, e) }) {
			return c, nil
		}
	}
	return c, refuse("none of NNAPI's ways to resize reads the image at the same places")
}

// lowerResize has images whose height and width change.
func lowerResize(t *translation) error {
	o, x, y := t.N.Op.(*op.Resize), t.In(0), t.Out(0)
	code, known := map[op.ResizeMode]spec.OperationCode{op.ResizeNearest: spec.ResizeNearestNeighbor,
		op.ResizeLinear: spec.ResizeBilinear}[o.Mode]
	switch {
	case !known:
		return refuse("NNAPI resizes by the nearest cell or by four cells")
	case len(x.Dims()) != 4:
		return refuse("%v is of images, not of %d dimensions", code, len(x.Dims())-2)
	case o.Coord == op.CoordTFCrop:
		return refuse("%v is of whole images", code)
	case o.ExcludeOutside:
		return refuse("%v repeats the border", code)
	}
	axes, err := o.ResolveAxes(4)
	if err != nil {
		return refuse("%v", err)
	}
	extents, last, err := t.extents(o, axes)
	switch {
	case err != nil:
		return err
	case o.Antialias && (extents[0].Out < extents[0].In || extents[1].Out < extents[1].In):
		return refuse("%v reads as many cells however small the result is", code)
	}
	c, err := cornerOf(o, extents[:])
	if err != nil {
		return err
	}
	image := t.Image(x, last)
	to, done := t.Result(y, last)
	in := []*operand{image, int32Scalar(extents[1].Out), int32Scalar(extents[0].Out)}
	if code == spec.ResizeNearestNeighbor || c.align || c.half {
		in = append(in, boolScalar(false))
	}
	if c.align || c.half {
		in = append(in, boolScalar(c.align), boolScalar(c.half))
	}
	t.add(code, to, in...)
	done()
	return nil
}

// extents returns height and width, and whether the channels come after them.
func (t *translation) extents(o *op.Resize, axes []int) (e [2]op.Extent, last bool, err error) {
	dims, resized := t.In(0).Dims(), make([]int64, len(axes))
	for i, a := range axes {
		resized[i] = dims[a]
	}
	scales, ok := t.scales()
	sizes, ok2 := t.Ints(3, nil)
	if !ok || !ok2 {
		return e, false, refuse("the sizes are not known before the run")
	}
	all, err := o.ExtentsOf(resized, scales, sizes)
	if err != nil {
		return e, false, refuse("%v", err)
	}
	var by [4]op.Extent
	for a := range by {
		by[a] = op.Extent{In: dims[a], Out: dims[a], Scale: 1}
	}
	for i, a := range axes {
		by[a] = all[i]
	}
	changes := func(a int) bool { return by[a].In != by[a].Out || by[a].Scale != 1 }
	first := 2
	if last = changes(1) || !changes(3) && slices.Contains(axes, 1) && !slices.Contains(axes, 3); last {
		first = 1
	}
	for a := range by {
		if changes(a) && a != first && a != first+1 {
			return e, last, refuse("NNAPI resizes height and width alone")
		}
	}
	return [2]op.Extent(by[first : first+2]), last, nil
}

// scales are the numbers of input 2 of a resize, nil when there are none.
func (t *translation) scales() (v []float32, ok bool) {
	if len(t.N.In) < 3 || t.N.In[2] == graph.None {
		return nil, true
	}
	f := t.G.Fact(t.N.In[2])
	if n, known := f.Shape.Count(); known && n == 0 {
		return nil, true
	}
	numbers, ok := t.floats(2)
	for _, x := range numbers {
		v = append(v, float32(x))
	}
	return v, ok
}
