package opcase

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// images are cases of images: their bytes, samples beside cells, and regions.
func images() []Case {
	bytes := func(dims ...int64) Operand { return Of(tensor.Uint8, dims...) }
	theta := Given(Real(1, 2, 3), 1, 0.25, 0, -0.25, 1, 0.5)
	boxes := Given(Real(1, 4, 4), 0, 0, 1, 1, 0, 0.1, 1, 1.1, 0, 2, 1, 3, 0, 2, 1, 3.5)
	one := func(v float64) Operand { return Given(Of(tensor.Int64), v) }
	list := []Case{
		One(&op.AffineGrid{}, theta, Numbers(1, 2, 3, 4)),
		One(&op.AffineGrid{AlignCorners: true}, theta, Numbers(1, 2, 3, 4)),
		One(&op.GridSample{Mode: op.ResizeLinear}, Real(1, 2, 4, 5), Small(1, 3, 2, 2)),
		One(&op.GridSample{Mode: op.ResizeNearest, Padding: op.GridBorder, AlignCorners: true}, Real(1, 2, 4, 5),
			Fixed(Real(1, 3, 2, 2))),
		One(&op.GridSample{Mode: op.ResizeCubic, Padding: op.GridReflection}, Real(1, 2, 4, 5), Fixed(Real(1, 3, 2, 2))),
		One(&op.Col2Im{}, Real(1, 8, 6), Numbers(3, 4), Numbers(2, 2)),
		One(&op.DeformConv{Groups: 1, OffsetGroups: 1}, Real(1, 2, 4, 4), Fixed(Real(3, 2, 2, 2)), Small(1, 8, 3, 3)),
		One(&op.DeformConv{Groups: 1, OffsetGroups: 1, Pads: []int64{1, 0, 1, 0}}, Real(1, 2, 4, 4), Fixed(Real(3, 2, 2, 2)),
			Small(1, 8, 5, 3), Fixed(Real(3)), Small(1, 4, 5, 3)),
		One(&op.MaxUnpool{Kernel: []int64{2, 2}, Strides: []int64{2, 2}}, Real(1, 1, 2, 2),
			Given(Of(tensor.Int64, 1, 1, 2, 2), 0, 3, 8, 15)),
		One(&op.DecodeImage{Pixel: op.PixelRGB, Order: op.OrderBGR, Interleaved: true}, bytes(1, 4, 6, 3)),
		One(&op.DecodeImage{Pixel: op.PixelNV12, Range: op.RangeVideo, Mean: []float32{100}, Scale: []float32{0.5},
			ChannelsLast: true}, bytes(1, 6, 4)),
		One(&op.DecodeImage{Pixel: op.PixelGray, Order: op.OrderGray}, bytes(1, 1, 4, 6)),
		One(&op.ResizeImage{Pixel: op.PixelRGB, Interleaved: true, Height: 3, Width: 9}, bytes(1, 4, 6, 3)),
		One(&op.ResizeImage{Pixel: op.PixelNV12, Height: 4, Width: 8}, bytes(1, 6, 4)),
		One(&op.NonMaxSuppression{}, boxes, Given(Real(1, 1, 4), 0.9, 0.8, 0.7, 0.6), one(3), Bound(0.5), Bound(0.1)),
		One(&op.NonMaxSuppression{CenterBox: true, To: tensor.Int32}, boxes, Real(1, 2, 4), one(2), Bound(0.5)),
		One(&op.Resize{Mode: op.ResizeCubic, Coord: op.CoordHalfPixel, Axes: []int64{2, 3}}, First, Absent, Absent,
			Numbers(9, 7)),
		One(&op.LpPool{Kernel: []int64{2, 3}, Mean: true}, First),
		One(&op.SpaceToDepth{Block: 2, Mode: op.CRD}, Real(2, 3, 4, 6)),
	}
	return list
}

// bodies are cases with graphs inside that no other list has.
func bodies() []Case {
	row := tensor.T(tensor.Float32, 3)
	b := graph.NewBuilder("body")
	state, slice := b.Input("state", row), b.Input("slice", row)
	sum := b.Add(&op.Add{}, state, slice)
	b.Output(sum, b.Add(&op.Relu{}, sum))
	running := whole(b)
	return []Case{
		One(&op.Scan{Body: running, States: 1, Sequences: 1}, Real(3), Real(4, 3)).Gives(2),
		One(&op.Scan{Body: running, States: 1, Sequences: 1, InReverse: []bool{true}, OutAxes: []int64{1}}, Real(3),
			Real(4, 3)).Gives(2),
	}
}

// whole is the graph of a builder, whose calls are right.
func whole(b *graph.Builder) *graph.Graph {
	g, err := b.Graph()
	if err != nil {
		panic(err)
	}
	return g
}
