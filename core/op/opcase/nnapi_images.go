package opcase

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// nnapiImages are cases of images.
func nnapiImages() []Case {
	codes := func(scale float32, dims ...int64) Operand { return Quantized(tensor.Int8, scale, dims...) }
	sizes := func(o op.Resize, x Operand, h, w int64) Case {
		o.Axes = []int64{2, 3}
		return One(&o, x, Absent, Absent, Numbers(h, w))
	}
	scales := func(v ...float32) Operand {
		return Operand{Type: tensor.T(tensor.Float32, int64(len(v))), Constant: tensor.Float32s(v...)}
	}
	nearest, linear := op.Resize{Mode: op.ResizeNearest}, op.Resize{Mode: op.ResizeLinear}
	with := func(o op.Resize, c op.Coord, n op.NearestMode) op.Resize {
		o.Coord, o.Nearest = c, n
		return o
	}
	return []Case{
		sizes(with(linear, op.CoordAsymmetric, 0), First, 9, 4),
		sizes(with(linear, op.CoordAlignCorners, 0), First, 9, 10),
		sizes(with(linear, op.CoordHalfPixel, 0), First, 12, 3),
		sizes(with(linear, op.CoordPytorchHalfPixel, 0), First, 11, 7),
		sizes(with(nearest, op.CoordAsymmetric, op.NearestFloor), First, 9, 4),
		sizes(with(nearest, op.CoordAlignCorners, op.NearestRoundPreferCeil), First, 4, 9),
		sizes(with(nearest, op.CoordTFHalfPixel, op.NearestFloor), First, 4, 9),
		sizes(with(nearest, op.CoordHalfPixel, op.NearestRoundPreferFloor), First, 12, 10),
		sizes(with(nearest, op.CoordAsymmetric, op.NearestFloor), codes(0.5, 1, 4, 6, 5), 12, 10),
		One(&op.Resize{Mode: op.ResizeLinear, Axes: []int64{1, 2}}, Last, Absent, scales(2, 1.6)),
		One(&op.Resize{Mode: op.ResizeNearest, Nearest: op.NearestFloor}, First, Absent, scales(1, 1, 2, 2)),
		One(&op.DepthToSpace{Block: 2}, First),
		One(&op.DepthToSpace{Block: 2, Mode: op.CRD}, Real(2, 8, 3, 2)),
		One(&op.DepthToSpace{Block: 2, Mode: op.CRD, ChannelsLast: true}, codes(0.5, 1, 2, 3, 8)),
		One(&op.SpaceToDepth{Block: 2}, Real(2, 3, 4, 6)),
		One(&op.SpaceToDepth{Block: 2, ChannelsLast: true}, codes(0.5, 1, 4, 6, 3)),
		One(&op.SpaceToBatch{}, First, Numbers(2, 3), Table(2, 0, 2, 1, 0)),
		One(&op.SpaceToBatch{ChannelsLast: true}, codes(0.5, 1, 4, 6, 3), Numbers(2, 2), Table(2, 1, 1, 0, 2)),
		One(&op.BatchToSpace{}, Real(6, 2, 3, 2), Numbers(2, 3)),
		One(&op.LpPool{Kernel: []int64{2, 3}, Mean: true, Pads: []int64{1, 0, 0, 2}}, First),
		One(&op.ConvTranspose{Groups: 1, Strides: []int64{2, 3}, Pads: []int64{1, 0, 1, 2}}, First,
			Fixed(Real(3, 3, 4, 4)), Fixed(Real(3))),
		One(&op.ConvTranspose{Groups: 1, ChannelsLast: true, Strides: []int64{2, 2}, OutputPads: []int64{1, 1}}, Last,
			Fixed(Real(3, 1, 1, 4))),
		One(&op.ConvTranspose{Groups: 1, ChannelsLast: true, AutoPad: op.PadSameUpper, Strides: []int64{3, 2}},
			codes(0.5, 1, 3, 4, 2), Fixed(codes(0.25, 3, 2, 2, 2))).To(codes(2, 1, 9, 8, 3)),
	}
}

// Table is a constant table of integers with two columns.
func Table(rows int64, v ...int64) Operand {
	return Operand{Type: tensor.T(tensor.Int64, rows, 2), Constant: tensor.Int64s(v...)}
}
