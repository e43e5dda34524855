package ref

import (
	"math"
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(o *op.Resize, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		if empty(out[0]) {
			return zeros(out), nil
		}
		x := in[0]
		axes, err := o.ResolveAxes(len(x.Dims))
		if err != nil {
			return nil, err
		}
		lists, err := resampled(o, in, axes)
		if err != nil {
			return nil, err
		}
		if o.Mode == op.ResizeNearest && o.Coord != op.CoordTFCrop {
			return []tensor.Tensor{pickNearest(x, out[0], axes, lists)}, nil
		}
		v, dims := reals(x), slices.Clone(x.Dims)
		for i, a := range axes {
			v = resample(v, dims, a, lists[i])
			dims[a] = int64(len(lists[i]))
		}
		for i, a := range axes {
			extrapolate(v, dims, a, lists[i], float64(o.Extrapolation))
		}
		return storeReals(v, out[0])
	})
}

// Cell is an input cell of a resized axis and its weight in an output cell.
type Cell struct {
	Index  int
	Weight float64
}

// Resampler tells which cells of an axis make those of the result.
type Resampler struct {
	In, Out int // the cells of the axis, and of the result
	at      func(list []Cell, k int) []Cell
}

// Cells appends the input cells of output cell k with their weights: none when it is outside of the region that may be
// extrapolated from.
func (r *Resampler) Cells(list []Cell, k int) []Cell { return r.at(list, k) }

// resampled returns, per axis and output index, the input cells and their weights.
func resampled(o *op.Resize, in []tensor.Tensor, axes []int) ([][][]Cell, error) {
	axesOf, err := resamplers(o, in, axes)
	if err != nil {
		return nil, err
	}
	lists := make([][][]Cell, len(axes))
	for i, r := range axesOf {
		lists[i] = alloc[[]Cell](r.Out)
		// A cell of the input serves so many of the output, or the other way round.
		admit(satMul(16*4, int64(r.In)+int64(r.Out)))
		for k := range lists[i] {
			tick()
			lists[i][k] = r.Cells(nil, k)
		}
	}
	return lists, nil
}

// resamplers returns that of each axis.
func resamplers(o *op.Resize, in []tensor.Tensor, axes []int) ([]Resampler, error) {
	sizes := make([]int64, len(axes))
	for i, a := range axes {
		sizes[i] = in[0].Dims[a]
	}
	var scales []float32
	var want []int64
	if len(in) > 2 && !in[2].Absent() {
		scales = view[float32](in[2])
	}
	if len(in) > 3 && !in[3].Absent() {
		v, err := readInts(in[3].DType, in[3].Data, in[3].Count())
		if err != nil {
			return nil, fault.As(fault.Type, err, "input 3")
		}
		want = v
	}
	extents, err := o.ExtentsOf(sizes, scales, want)
	if err != nil {
		return nil, err
	}
	var roi []float64
	if o.Coord == op.CoordTFCrop {
		roi = reals(in[1])
	}
	list := make([]Resampler, len(axes))
	for i, e := range extents {
		var start, end float32
		if roi != nil {
			start, end = float32(roi[i]), float32(roi[len(axes)+i])
		}
		list[i].In, list[i].Out = int(e.In), int(e.Out)
		if o.Mode == op.ResizeNearest {
			at := o.NearestCells(e, start, end)
			list[i].at = func(list []Cell, k int) []Cell {
				if c := at(int64(k)); c >= 0 {
					list = append(list, Cell{int(c), 1})
				}
				return list
			}
			continue
		}
		list[i].at = func(list []Cell, k int) []Cell {
			c := coordinate(o.Coord, e, float32(k), start, end)
			if o.Coord == op.CoordTFCrop && !(c >= 0 && c <= float32(e.In-1)) {
				return list
			}
			return weights(list, o, e, float64(c))
		}
	}
	return list, nil
}

// coordinate maps output index k for interpolation; each step is rounded to float32.
func coordinate(mode op.Coord, e op.Extent, k, start, end float32) float32 {
	in, out := float32(e.In), float32(e.Out)
	half := func() float32 { return float32((k+0.5)/e.Scale) - 0.5 }
	switch mode {
	case op.CoordAsymmetric:
		return k / e.Scale
	case op.CoordAlignCorners:
		if e.Out == 1 {
			return 0
		}
		return float32(k*(in-1)) / (out - 1)
	case op.CoordPytorchHalfPixel:
		if e.Out == 1 {
			return 0
		}
	case op.CoordHalfPixelSymmetric:
		return in/2*(1-out/float32(e.Scale*in)) + half()
	case op.CoordTFCrop:
		if e.Out == 1 {
			return 0.5 * (start + end) * (in - 1)
		}
		return start*(in-1) + float32(k*(end-start)*(in-1))/(out-1)
	case op.CoordTFHalfPixel:
		return (k + 0.5) / e.Scale
	case op.CoordHalfPixelClamped:
		return max(0, half())
	}
	return half()
}

// weights appends the cells that make the value at coordinate c.
func weights(list []Cell, o *op.Resize, e op.Extent, c float64) []Cell {
	last := int(e.In) - 1
	c = min(max(c, -float64(e.In)), 2*float64(e.In))
	reach, kernel := 1.0, triangle
	if o.Mode == op.ResizeCubic {
		a := float64(o.CubicA)
		if o.CubicA == 0 {
			a = -0.75
		}
		reach, kernel = 2, func(x float64) float64 { return keys(a, x) }
	}
	stretch := 1.0
	if o.Antialias {
		stretch = min(1, float64(e.Scale))
	}
	var sum float64
	from := len(list)
	base := int(math.Floor(c))
	first := int(math.Floor(-reach/stretch)) + 1
	for i := base + first; i <= base+1-first; i++ {
		tick()
		w := kernel((float64(i) - c) * stretch)
		outside := i < 0 || i > last
		if w == 0 || o.ExcludeOutside && outside {
			continue
		}
		sum += w
		list = append(list, Cell{min(max(i, 0), last), w})
	}
	if o.Antialias || o.ExcludeOutside {
		for i := range list[from:] {
			list[from+i].Weight /= sum
		}
	}
	return list
}

// triangle is the linear kernel.
func triangle(x float64) float64 { return max(0, 1-math.Abs(x)) }

// keys is Keys' cubic convolution kernel with parameter a.
func keys(a, x float64) float64 {
	x = math.Abs(x)
	switch {
	case x <= 1:
		return ((a+2)*x-(a+3))*x*x + 1
	case x < 2:
		return ((a*x-5*a)*x+8*a)*x - 4*a
	}
	return 0
}

// resample replaces dimension axis of v by the weighted cells of list.
func resample(v []float64, dims []int64, axis int, list [][]Cell) []float64 {
	size, inner := int(dims[axis]), cellCount(dims[axis+1:])
	outer := cellCount(dims[:axis])
	y := alloc[float64](outer * len(list) * inner)
	for o := range outer {
		for k, cells := range list {
			to := y[(o*len(list)+k)*inner:][:inner]
			for _, c := range cells {
				from := v[(o*size+c.Index)*inner:][:inner]
				for i, x := range from {
					tick()
					to[i] += c.Weight * x
				}
			}
		}
	}
	return y
}

// extrapolate overwrites the cells whose index on axis has no list.
func extrapolate(v []float64, dims []int64, axis int, list [][]Cell, value float64) {
	inner := cellCount(dims[axis+1:])
	for i := range v {
		tick()
		if list[i/inner%len(list)] == nil {
			v[i] = value
		}
	}
}

// pickNearest copies elements of any type.
func pickNearest(x tensor.Tensor, out tensor.Type, axes []int, lists [][][]Cell) tensor.Tensor {
	stride := tensor.RowMajor(x.Dims)
	from := make([][][]Cell, len(x.Dims))
	for i, a := range axes {
		from[a] = lists[i]
	}
	return remap(x, out, func(idx []int64) int64 {
		var at int64
		for d, i := range idx {
			if from[d] != nil {
				i = int64(from[d][i][0].Index)
			}
			at += i * stride[d]
		}
		return at
	})
}

// storeReals writes real values to a float32, float64 or plain integer tensor; integers are truncated and saturate, NaN
// becomes 0.
func storeReals(v []float64, out tensor.Type) ([]tensor.Tensor, error) {
	if !out.DType.IsInt() && out.DType != tensor.Bool {
		y, put := realStore(out)
		for i, r := range v {
			tick()
			put(i, r)
		}
		return []tensor.Tensor{y}, nil
	}
	dims, _ := out.Shape.Ints()
	y := newTensor(out.DType, dims...)
	for i, r := range v {
		tick()
		scalar{f: r}.put(y, i, true, true)
	}
	return []tensor.Tensor{y}, nil
}

// Resamplers returns those of axes. in are Resize's inputs, of which only the sizes of the first are looked at.
func Resamplers(o *op.Resize, in []tensor.Tensor, axes []int) (list []Resampler, err error) {
	defer refuse(&err)
	return resamplers(o, in, axes)
}
