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
		lists, err := resamplers(o, in, axes)
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

// cell is the weight of an input cell in an output cell.
type cell struct {
	i int
	w float64
}

// resamplers returns, per axis and output index, the input cells and their weights; nil for an output index outside the
// region that may be extrapolated from.
func resamplers(o *op.Resize, in []tensor.Tensor, axes []int) ([][][]cell, error) {
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
	lists := make([][][]cell, len(axes))
	for i, e := range extents {
		lists[i] = alloc[[]cell](e.Out)
		admit(satMul(16*4, satAdd(e.In, e.Out))) // a cell of the input serves so many of the output, or the other way round
		var start, end float32
		if roi != nil {
			start, end = float32(roi[i]), float32(roi[len(axes)+i])
		}
		if o.Mode == op.ResizeNearest {
			at, of := o.NearestCells(e, start, end), alloc[cell](e.Out)
			for k := range lists[i] {
				tick()
				if c := at(int64(k)); c >= 0 {
					of[k] = cell{int(c), 1}
					lists[i][k] = of[k : k+1 : k+1]
				}
			}
			continue
		}
		for k := range lists[i] {
			tick()
			c := coordinate(o.Coord, e, float32(k), start, end)
			if o.Coord == op.CoordTFCrop && !(c >= 0 && c <= float32(e.In-1)) {
				continue
			}
			lists[i][k] = weights(o, e, float64(c))
		}
	}
	return lists, nil
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

// weights returns the cells that make the value at coordinate c.
func weights(o *op.Resize, e op.Extent, c float64) []cell {
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
	var list []cell
	var sum float64
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
		list = append(list, cell{min(max(i, 0), last), w})
	}
	if o.Antialias || o.ExcludeOutside {
		for i := range list {
			list[i].w /= sum
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
func resample(v []float64, dims []int64, axis int, list [][]cell) []float64 {
	size, inner := int(dims[axis]), cellCount(dims[axis+1:])
	outer := cellCount(dims[:axis])
	y := alloc[float64](outer * len(list) * inner)
	for o := range outer {
		for k, cells := range list {
			to := y[(o*len(list)+k)*inner:][:inner]
			for _, c := range cells {
				from := v[(o*size+c.i)*inner:][:inner]
				for i, x := range from {
					tick()
					to[i] += c.w * x
				}
			}
		}
	}
	return y
}

// extrapolate overwrites the cells whose index on axis has no list.
func extrapolate(v []float64, dims []int64, axis int, list [][]cell, value float64) {
	inner := cellCount(dims[axis+1:])
	for i := range v {
		tick()
		if list[i/inner%len(list)] == nil {
			v[i] = value
		}
	}
}

// pickNearest copies elements of any type.
func pickNearest(x tensor.Tensor, out tensor.Type, axes []int, lists [][][]cell) tensor.Tensor {
	stride := tensor.RowMajor(x.Dims)
	from := make([][][]cell, len(x.Dims))
	for i, a := range axes {
		from[a] = lists[i]
	}
	return remap(x, out, func(idx []int64) int64 {
		var at int64
		for d, i := range idx {
			if from[d] != nil {
				i = int64(from[d][i][0].i)
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

// Cell is an input cell of a resized axis and its weight in an output cell.
type Cell struct {
	Index  int
	Weight float64
}

// ResizeCells returns, per axis of axes and output index, the input cells that are mixed; none for an output index that
// is extrapolated. in are Resize's inputs, of which only the sizes of the first are looked at.
func ResizeCells(o *op.Resize, in []tensor.Tensor, axes []int) (out [][][]Cell, err error) {
	defer refuse(&err)
	lists, err := resamplers(o, in, axes)
	if err != nil {
		return nil, err
	}
	out = make([][][]Cell, len(lists))
	for i, list := range lists {
		out[i] = alloc[[]Cell](len(list))
		for k, cells := range list {
			admit(32 * len(cells))
			for _, c := range cells {
				out[i][k] = append(out[i][k], Cell{c.i, c.w})
			}
		}
	}
	return out, nil
}
