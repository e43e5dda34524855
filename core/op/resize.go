package op

import (
	"math"
	"math/big"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// ResizeMode is how values between cells are found.
type ResizeMode uint8

// The interpolations.
const (
	ResizeNearest ResizeMode = iota
	ResizeLinear             // between the two neighbours of each dimension
	ResizeCubic              // from four neighbours of each dimension with Keys' kernel
)

// Coord maps an output index o to an input coordinate. scale is out/in, or the given scale.
type Coord uint8

// The coordinate maps.
const (
	CoordAsymmetric       Coord = iota // o / scale
	CoordAlignCorners                  // o * (in-1) / (out-1); 0 for out 1
	CoordHalfPixel                     // (o+0.5) / scale - 0.5
	CoordPytorchHalfPixel              // CoordHalfPixel; 0 for out 1
	// CoordHalfPixel + in/2 * (1 - out/(scale*in)): the centres coincide when out was rounded
	CoordHalfPixelSymmetric
	// start*(in-1) + o * (end-start)*(in-1)/(out-1), for out 1 (start+end)/2*(in-1), of the region of interest
	CoordTFCrop
	CoordHalfPixelClamped // max(0, CoordHalfPixel)
	CoordTFHalfPixel      // (o+0.5) / scale: ONNX opset 11's tf_half_pixel_for_nn
)

// NearestMode rounds a coordinate for ResizeNearest.
type NearestMode uint8

// The roundings.
const (
	NearestRoundPreferFloor NearestMode = iota // halves down
	NearestRoundPreferCeil                     // halves up
	NearestFloor
	NearestCeil
	NearestCeilBelowOne // NearestCeil where the scale of an axis is below 1, else NearestFloor: ONNX before opset 11
)

// AspectMode says what sizes mean.
type AspectMode uint8

// The aspect modes.
const (
	AspectStretch AspectMode = iota // the sizes themselves
	// one scale for all axes, the smallest of size/in; size = in*scale rounded, halves up
	AspectNotLarger
	AspectNotSmaller // the same with the largest
)

// Resize resamples x along Axes, one dimension after the other. Cells outside x repeat the border, or with
// ExcludeOutside have no weight (the remaining weights are scaled to sum 1). With Antialias the linear or cubic kernel
// is stretched by 1/scale where scale < 1. For CoordTFCrop output cells whose coordinate lies outside [0, in-1] are
// Extrapolation.
//
// Inputs: x, float, quantized or plain integer; roi? [2*axes] (starts, then ends, as fractions), read for CoordTFCrop;
// scales? float32 [axes], giving out = floor(in*scale); sizes? integers [axes]. One of scales and sizes is given (an
// empty list counts as absent). Output: y of x's type; interpolated plain integers are truncated and saturate.
// Coordinates are computed in float32, weights and sums in float64; those of the nearest cells are exact, see
// NearestCells. Source: ONNX Resize-19, Resize-10 and Upsample-10,
// OH_NN_OPS_RESIZE_BILINEAR (docs/abi/ohnn.md, operators 6), ANEURALNETWORKS_RESIZE_BILINEAR and
// RESIZE_NEAREST_NEIGHBOR (nearest: align corners and half pixels with NearestRoundPreferCeil, else NearestFloor).
type Resize struct {
	Mode           ResizeMode
	Coord          Coord
	Nearest        NearestMode
	CubicA         float32 // 0: -0.75
	ExcludeOutside bool
	Antialias      bool
	Extrapolation  float32
	KeepAspect     AspectMode
	Axes           []int64 // empty: all
}

func init() { graph.Register[*Resize]("resize", graph.Traits{ShapeInputs: []int{2, 3}}) }

// ResolveAxes returns the axes that are resampled of a tensor with rank dimensions.
func (o *Resize) ResolveAxes(rank int) ([]int, error) {
	if len(o.Axes) == 0 {
		axes := make([]int, rank)
		for i := range axes {
			axes[i] = i
		}
		return axes, nil
	}
	axes, seen := make([]int, len(o.Axes)), map[int]bool{}
	for i, v := range o.Axes {
		a, err := Axis(v, rank)
		if err != nil {
			return nil, err
		}
		if seen[a] {
			return nil, fault.New(fault.Argument, "axis %d is given twice", v)
		}
		axes[i], seen[a] = a, true
	}
	return axes, nil
}

// Extent is how one axis is resampled: its sizes and the ratio that coordinates are computed with.
type Extent struct {
	In, Out int64
	Scale   float32
	// The ratio as a fraction, where sizes give it; Den is 0 where a scale does.
	Num, Den int64
}

// ExtentsOf resolves sizes for the axes' input sizes; exactly one of scales and sizes is not empty.
func (o *Resize) ExtentsOf(in []int64, scales []float32, sizes []int64) ([]Extent, error) {
	if len(scales) != 0 && len(scales) != len(in) || len(sizes) != 0 && len(sizes) != len(in) {
		return nil, fault.New(fault.Argument, "%d scales and %d sizes for %d axes", len(scales), len(sizes), len(in))
	}
	ext := make([]Extent, len(in))
	common := -1 // the axis of the ratio that all axes take
	for i, n := range in {
		e := Extent{In: n}
		switch {
		case len(scales) > 0:
			e.Scale = scales[i]
			if !(e.Scale > 0) || math.IsInf(float64(e.Scale), 0) {
				return nil, fault.New(fault.Argument, "scale %v of axis %d", e.Scale, i)
			}
			out := float64(float32(n) * e.Scale)
			if out > maxSpatial {
				return nil, fault.New(fault.Argument, "size %d with scale %v is too large", n, e.Scale)
			}
			e.Out = int64(out)
		default:
			if sizes[i] < 0 || sizes[i] > maxSpatial {
				return nil, fault.New(fault.Argument, "size %d of axis %d", sizes[i], i)
			}
			e.Out = sizes[i]
			e.Scale = float32(e.Out) / float32(n)
			e.Num, e.Den = e.Out, n
		}
		if n == 0 && e.Out != 0 {
			return nil, fault.New(fault.Shape, "axis %d: cannot resize no cells to %d", i, e.Out)
		}
		ext[i] = e
		if e.Den != 0 && (common < 0 || o.KeepAspect == AspectNotLarger && less(e, ext[common]) ||
			o.KeepAspect == AspectNotSmaller && less(ext[common], e)) {
			common = i
		}
	}
	if len(sizes) == 0 || o.KeepAspect == AspectStretch || common < 0 {
		return ext, nil
	}
	by := ext[common]
	for i := range ext {
		e := &ext[i]
		e.Scale, e.Num, e.Den = by.Scale, by.Num, by.Den
		halves := new(big.Int).Mul(big.NewInt(e.In), big.NewInt(by.Num))
		halves.Lsh(halves, 1)
		if halves.Quo(halves, big.NewInt(by.Den)); halves.Cmp(big.NewInt(2*maxSpatial)) > 0 {
			return nil, fault.New(fault.Argument, "size %d with scale %v is too large", e.In, by.Scale)
		}
		e.Out = (halves.Int64() + 1) / 2
	}
	return ext, nil
}

func (o *Resize) check(in []tensor.Fact) error {
	if o.Mode > ResizeCubic || o.Coord > CoordTFHalfPixel || o.Nearest > NearestCeilBelowOne ||
		o.KeepAspect > AspectNotSmaller {
		return fault.New(fault.Argument, "unknown mode: interpolation %d, coordinates %d, nearest %d, aspect %d", o.Mode,
			o.Coord, o.Nearest, o.KeepAspect)
	}
	if err := wantTensor(in, 0, numberOrBoolWords, isNumberOrBool); err != nil {
		return err
	}
	if in[0].DType == tensor.Bool && o.Mode != ResizeNearest {
		return fault.New(fault.Type, "input 0: bool cannot be interpolated")
	}
	if o.Coord == CoordTFCrop && !present(in, 1) {
		return fault.New(fault.Argument, "input 1: the region of interest is missing")
	}
	if present(in, 1) {
		if err := wantType(in, 1, "a float type", tensor.DType.IsFloat); err != nil {
			return err
		}
	}
	if present(in, 2) {
		if err := wantType(in, 2, "float32", func(d tensor.DType) bool { return d == tensor.Float32 }); err != nil {
			return err
		}
	}
	for i := 1; i < len(in); i++ {
		if present(in, i) {
			if err := wantRank(in, i, 1); err != nil {
				return err
			}
		}
	}
	return nil
}

// Infer returns x's shape with the axes resized.
func (o *Resize) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 1, 4, declared, 1, 1); err != nil {
		return nil, err
	}
	if err := o.check(in); err != nil {
		return nil, err
	}
	given, err := sizesInput(in, 3)
	if err != nil {
		return nil, err
	}
	scaled := present(in, 2) && !emptyList(in[2])
	sized := given != nil && given.count != 0
	if !scaled && !sized {
		return nil, fault.New(fault.Argument, "neither scales nor sizes are given")
	}
	if scaled && sized && in[2].Shape.Static() && given.count > 0 {
		return nil, fault.New(fault.Argument, "both scales and sizes are given")
	}
	x := in[0].Shape.Clone()
	if !x.Ranked {
		return []tensor.Fact{outType(declared[0], in[0], x)}, nil
	}
	axes, err := o.ResolveAxes(len(x.Dims))
	if err != nil {
		return nil, fault.Wrap(err, "input 0")
	}
	if o.Coord == CoordTFCrop {
		if err := wantSized(in, 1, tensor.D(int64(2*len(axes))), "a start and an end per axis"); err != nil {
			return nil, err
		}
	}
	which := 2
	if sized {
		which = 3
	}
	if err := wantSized(in, which, tensor.D(int64(len(axes))), "one value per axis"); err != nil {
		return nil, err
	}
	if err := o.resized(in, x, axes, given, scaled); err != nil {
		return nil, err
	}
	return []tensor.Fact{outType(declared[0], in[0], x)}, nil
}

// resized puts the new sizes into x.
func (o *Resize) resized(in []tensor.Fact, x tensor.Shape, axes []int, given *sizes, scaled bool) error {
	var scales []float32
	var want []int64
	known := true
	if scaled {
		n, ok := in[2].Shape.Count()
		if known = ok && in[2].Const != nil; known {
			v, err := tensor.ReadFloat32s(in[2].Const.Data, int(n))
			if err != nil {
				return fault.As(fault.Argument, err, "input 2")
			}
			scales = v
		}
	} else {
		want, known = in[3].KnownInts()
	}
	sizes := make([]int64, len(axes))
	for i, a := range axes {
		known = known && x.Dims[a].Known()
		sizes[i] = x.Dims[a].N
	}
	if known {
		ext, err := o.ExtentsOf(sizes, scales, want)
		if err != nil {
			return err
		}
		for i, a := range axes {
			x.Dims[a] = tensor.D(ext[i].Out)
		}
		return nil
	}
	for i, a := range axes {
		switch {
		case len(scales) == len(axes) && scales[i] == 1:
		case given != nil && !scaled && o.KeepAspect == AspectStretch:
			x.Dims[a] = given.dim(i)
		default:
			x.Dims[a] = tensor.AnyDim()
		}
	}
	return nil
}

// emptyList reports whether f is known to have no elements.
func emptyList(f tensor.Fact) bool {
	n, ok := f.Shape.Count()
	return ok && n == 0
}

// less compares the ratios of two extents, whose divisors are above 0.
func less(a, b Extent) bool {
	return new(big.Int).Mul(big.NewInt(a.Num), big.NewInt(b.Den)).
		Cmp(new(big.Int).Mul(big.NewInt(b.Num), big.NewInt(a.Den))) < 0
}
