package ref

import (
	"math"

	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() { register(Real, gridSample) }

func gridSample(o *op.GridSample, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
	if empty(out[0]) {
		return zeros(out), nil
	}
	x, grid := reals(in[0]), reals(in[1])
	y, put := realStore(out[0])
	xe, ye := extentOf(in[0].Dims, o.ChannelsLast), extentOf(y.Dims, o.ChannelsLast)
	n := len(xe.spatial)
	var s sampler
	var list []Cell
	for b := range ye.n {
		for p := range ye.cells {
			point := grid[(b*ye.cells+p)*n:][:n]
			s.reset()
			for d, size := range xe.spatial {
				list = GridCells(o, point[n-1-d], int(size), list)
				s.dimension(int(size), list)
			}
			for c := range ye.c {
				tick()
				put(ye.index(b, c, p), s.value(x, xe.index(b, c, 0), xe.step()))
			}
		}
	}
	return []tensor.Tensor{y}, nil
}

// GridCells returns the cells of one dimension at normalized coordinate g, in the memory of list.
func GridCells(o *op.GridSample, g float64, size int, list []Cell) []Cell {
	if math.IsNaN(g) {
		g = -1
	}
	c := ((g+1)*float64(size) - 1) / 2
	if o.AlignCorners {
		c = (g + 1) / 2 * float64(size-1)
	}
	c = min(max(c, -1<<40), 1<<40)
	list = list[:0]
	take := func(i int, w float64) {
		i, ok := gridCell(o, i, size)
		if ok && w != 0 {
			list = append(list, Cell{i, w})
		}
	}
	switch o.Mode {
	case op.ResizeNearest:
		take(int(math.RoundToEven(gridBound(o, c, size))), 1)
	case op.ResizeLinear:
		c = gridBound(o, c, size)
		low := math.Floor(c)
		take(int(low), 1-(c-low))
		take(int(low)+1, c-low)
	case op.ResizeCubic:
		low := math.Floor(c)
		for i := -1; i <= 2; i++ {
			take(int(low)+i, keys(-0.75, c-low-float64(i)))
		}
	}
	return list
}

// gridBound moves a coordinate into the image as the padding says.
func gridBound(o *op.GridSample, c float64, size int) float64 {
	switch o.Padding {
	case op.GridBorder:
		return min(max(c, 0), float64(size-1))
	case op.GridReflection:
		return reflectedAt(o, c, size)
	}
	return c
}

// gridCell finds the cell that stands for cell i; ok is false where there is none.
func gridCell(o *op.GridSample, i, size int) (int, bool) {
	switch {
	case i >= 0 && i < size:
		return i, true
	case o.Padding == op.GridBorder:
		return min(max(i, 0), size-1), true
	case o.Padding == op.GridReflection:
		return min(max(int(reflectedAt(o, float64(i), size)), 0), size-1), true
	}
	return 0, false
}

// reflectedAt reflects a coordinate into the image.
func reflectedAt(o *op.GridSample, c float64, size int) float64 {
	lo, span := -0.5, float64(size)
	if o.AlignCorners {
		lo, span = 0, float64(size-1)
	}
	if span == 0 {
		return 0
	}
	c = math.Mod(math.Abs(c-lo), 2*span)
	if c > span {
		c = 2*span - c
	}
	return c + lo
}
