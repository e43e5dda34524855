package lowering

import (
	"testing"

	"github.com/anynpu/anynpu/core/spec/nnapi"
)

// likes are operands of every type that operations which move data take, with the codes that they are given.
func likes(values []float64, dims ...uint32) []arg {
	return []arg{f32(values, dims...), forms[1].put(values, dims...), u8(0.5, 7, values, dims...),
		s8(0.25, -7, values, dims...),
		i32(values, dims...)}
}

// moves runs a case for each type: the result holds elements of in, of the same type.
func moves(t *testing.T, name string, code nnapi.OperationCode, in arg, more []arg, out []arg, integers bool) {
	t.Helper()
	for i, x := range likes(in.values, in.Dims...) {
		if x.Type == nnapi.TensorInt32 && !integers {
			continue
		}
		var ys []arg
		for _, y := range out {
			ys = append(ys, likes(y.values, y.Dims...)[i])
		}
		check{name + " " + x.Type.String(), code, append([]arg{x}, more...), ys, 1e-9}.run(t)
	}
}

func TestReshaping(t *testing.T) {
	x := f32(seq(1, 1, 6), 2, 1, 3)
	one := func(y arg) []arg { return []arg{y} }
	moves(t, "whole", nnapi.Reshape, x, []arg{list(3, 2)}, one(f32(x.values, 3, 2)), true)
	moves(t, "rest", nnapi.Reshape, x, []arg{list(-1, 3, 1, 1)}, one(f32(x.values, 2, 3, 1, 1)), true)
	moves(t, "axis", nnapi.Squeeze, x, []arg{list(1)}, one(f32(x.values, 2, 3)), false)
	moves(t, "from the end, twice", nnapi.Squeeze, x, []arg{list(-2, 1)}, one(f32(x.values, 2, 3)), false)
	moves(t, "all", nnapi.Squeeze, x, []arg{none(nnapi.TensorInt32)}, one(f32(x.values, 2, 3)), false)
	moves(t, "nothing left", nnapi.Squeeze, f32(v1(5), 1, 1), []arg{list(0, 1)}, one(f32(v1(5), 1)), false)
	moves(t, "nothing left, no axes", nnapi.Squeeze, f32(v1(5), 1, 1, 1), []arg{none(nnapi.TensorInt32)},
		one(f32(v1(5), 1)), false)
	for axis, d := range map[float64][]uint32{0: {1, 2, 1, 3}, 3: {2, 1, 3, 1}, -1: {2, 1, 3, 1}, -4: {1, 2, 1, 3},
		2: {2, 1, 1, 3}} {
		moves(t, "axis", nnapi.ExpandDims, x, []arg{num(axis)}, one(f32(x.values, d...)), true)
	}
	moves(t, "permutation", nnapi.Transpose, x, []arg{list(2, 0, 1)}, one(f32(v1(1, 4, 2, 5, 3, 6), 3, 2, 1)), false)
	moves(t, "reversed", nnapi.Transpose, x, []arg{none(nnapi.TensorInt32)}, one(f32(v1(1, 4, 2, 5, 3, 6), 3, 1, 2)),
		false)
	refused(t, check{"", nnapi.Reshape, []arg{x, list(4)}, []arg{f32(nil, 4)}, 0}, "input 1 (shape)")
	refused(t, check{"", nnapi.Squeeze, []arg{x, list(0)}, []arg{f32(nil, 2)}, 0}, "input 1 (axes)")
	refused(t, check{"", nnapi.ExpandDims, []arg{x, num(4)}, []arg{f32(nil)}, 0}, "input 1 (axis)")
	refused(t, check{"", nnapi.Transpose, []arg{x, list(0, 0, 1)}, []arg{f32(nil)}, 0}, "input 1 (permutation)")
}

func TestJoining(t *testing.T) {
	a, b := f32(v1(1, 2, 3, 4), 2, 2), f32(v1(5, 6), 2, 1)
	for i, x := range likes(a.values, 2, 2)[:4] {
		y, z := likes(b.values, 2, 1)[i], likes(v1(1, 2, 5, 3, 4, 6), 2, 3)[i]
		check{"columns " + x.Type.String(), nnapi.Concatenation, []arg{x, y, num(1)}, []arg{z}, 1e-9}.run(t)
		check{"one " + x.Type.String(), nnapi.Concatenation, []arg{x, num(0)}, []arg{x}, 1e-9}.run(t)
	}
	check{"other scales", nnapi.Concatenation, []arg{u8(0.5, 1, v1(3, 4), 2), u8(1, 0, v1(5, 100), 2), num(0)},
		[]arg{u8(0.25, 10, v1(14, 16, 30, 255), 4)}, 0}.run(t)
	refused(t, check{"", nnapi.Concatenation, []arg{a, a, num(-1)}, []arg{f32(nil)}, 0},
		"input 2 (axis): want 0 or more, got -1")
	refused(t, check{"", nnapi.Concatenation, []arg{a, a, num(2)}, []arg{f32(nil)}, 0},
		"input 2 (axis): axis 2 is outside")
	for i, x := range likes(seq(1, 1, 8), 2, 4) {
		l, r := likes(v1(1, 2, 5, 6), 2, 2)[i], likes(v1(3, 4, 7, 8), 2, 2)[i]
		check{"halves " + x.Type.String(), nnapi.Split, []arg{x, num(-1), num(2)}, []arg{l, r}, 1e-9}.run(t)
		u, d := likes(v1(1, 2, 3, 4), 1, 4)[i], likes(v1(5, 6, 7, 8), 1, 4)[i]
		check{"rows " + x.Type.String(), nnapi.Split, []arg{x, num(0), num(2)}, []arg{u, d}, 1e-9}.run(t)
		p, q := likes(v1(1, 2, 3), 3)[i], likes(v1(4, 5, 6), 3)[i]
		check{"rows " + x.Type.String(), nnapi.Pack, []arg{num(0), p, q}, []arg{likes(seq(1, 1, 6), 2, 3)[i]}, 1e-9}.run(t)
		check{"columns " + x.Type.String(), nnapi.Pack, []arg{num(1), p, q}, []arg{likes(v1(1, 4, 2, 5, 3, 6), 3, 2)[i]},
			1e-9}.run(t)
		check{"one " + x.Type.String(), nnapi.Pack, []arg{num(1), p}, []arg{likes(v1(1, 2, 3), 3, 1)[i]}, 1e-9}.run(t)
	}
	refused(t, check{"", nnapi.Split, []arg{f32(nil, 3), num(0), num(2)}, []arg{f32(nil), f32(nil)}, 0}, "split")
	refused(t, check{"", nnapi.Split, []arg{f32(nil, 4), num(0), num(4)}, []arg{f32(nil), f32(nil)}, 0},
		"input 2 (count): want 2, one for each output, got 4")
	refused(t, check{"", nnapi.Pack, []arg{num(2), f32(nil, 4)}, []arg{f32(nil)}, 0}, "axis")
}

func TestCutting(t *testing.T) {
	x := f32(seq(1, 1, 12), 3, 4)
	one := func(v []float64, d ...uint32) []arg { return []arg{f32(v, d...)} }
	moves(t, "inside", nnapi.Slice, x, []arg{list(1, 1), list(2, 2)}, one(v1(6, 7, 10, 11), 2, 2), true)
	moves(t, "to the end", nnapi.Slice, x, []arg{list(1, 2), list(1, -1)}, one(v1(7, 8), 1, 2), true)
	check{"nothing", nnapi.Slice, []arg{x, list(3, 0), list(0, 4)}, one(nil, 0, 4), 0}.run(t)
	refused(t, check{"", nnapi.Slice, []arg{x, list(2, 0), list(2, 4)}, one(nil), 0}, "lies outside")
	refused(t, check{"", nnapi.Slice, []arg{x, list(0, 0), list(-2, 4)}, one(nil), 0}, "want -1 or more")
	refused(t, check{"", nnapi.Slice, []arg{x, list(0), list(1)}, one(nil), 0}, "input 1 (begin): want 2 elements")
	fails(t, check{"", nnapi.Slice, []arg{x, list(2, 0), list(2, 4)}, one(nil), 0})

	masks := func(b, e, s float64) []arg { return []arg{num(b), num(e), num(s)} }
	strided := func(name string, begin, end, strides arg, m []arg, out []arg) {
		moves(t, name, nnapi.StridedSlice, x, append([]arg{begin, end, strides}, m...), out, false)
	}
	strided("steps", list(0, 1), list(3, 4), list(2, 2), masks(0, 0, 0), one(v1(2, 4, 10, 12), 2, 2))
	strided("backwards", list(-1, -1), list(-4, 0), list(-1, -2), masks(0, 0, 0), one(v1(12, 10, 8, 6, 4, 2), 3, 2))
	strided("open", list(1, 1), list(2, 2), list(1, 1), masks(1, 2, 0), one(v1(2, 3, 4, 6, 7, 8), 2, 3))
	strided("one row", list(1, 0), list(2, 4), list(1, 1), masks(0, 0, 1), one(v1(5, 6, 7, 8), 4))
	strided("one cell", list(1, -1), list(2, 4), list(1, 1), masks(0, 0, 3), one(v1(8), 1))
	fails(t, check{"two where one is dropped", nnapi.StridedSlice, append([]arg{x, list(0, 0), list(2, 1), list(1, 1)},
		masks(0, 0, 1)...), []arg{f32(nil, 0)}, 0})
	fails(t, check{"none where one is dropped", nnapi.StridedSlice, append([]arg{x, list(0, 1), list(1, 1), list(1, 1)},
		masks(0, 0, 2)...), []arg{f32(nil, 0)}, 0})
	refused(t, check{"", nnapi.StridedSlice, append([]arg{x, list(0, 0), list(1, 1), list(0, 1)}, masks(0, 0, 0)...),
		one(nil), 0}, "0")

	moves(t, "both ways", nnapi.Tile, f32(v1(1, 2), 2, 1), []arg{list(1, 3)}, one(v1(1, 1, 1, 2, 2, 2), 2, 3), true)
	moves(t, "rows", nnapi.Tile, f32(v1(1, 2), 1, 2), []arg{list(2, 1)}, one(v1(1, 2, 1, 2), 2, 2), true)
	moves(t, "rows", nnapi.Reverse, x, []arg{list(0)}, one(v1(9, 10, 11, 12, 5, 6, 7, 8, 1, 2, 3, 4), 3, 4), true)
	moves(t, "columns", nnapi.Reverse, x, []arg{list(1)}, one(v1(4, 3, 2, 1, 8, 7, 6, 5, 12, 11, 10, 9), 3, 4), true)
	refused(t, check{"", nnapi.Reverse, []arg{x, list(2)}, one(nil), 0},
		"input 1 (axis): want one axis from 0 to 1, got [2]")
	fails(t, check{"", nnapi.Reverse, []arg{x, list(-1)}, one(nil), 0})
	refused(t, check{"", nnapi.Tile, []arg{x, list(2)}, one(nil), 0}, "input 1 (multiples)")
}

func TestGathering(t *testing.T) {
	x := f32(seq(1, 1, 6), 2, 3)
	one := func(v []float64, d ...uint32) []arg { return []arg{f32(v, d...)} }
	moves(t, "columns", nnapi.Gather, x, []arg{num(1), list(2, 0)}, one(v1(3, 1, 6, 4), 2, 2), true)
	moves(t, "from the end", nnapi.Gather, x, []arg{num(-2), i32(v1(1, 0, 1, 1), 2, 2)},
		one(v1(4, 5, 6, 1, 2, 3, 4, 5, 6, 4, 5, 6), 2, 2, 3), true)
	fails(t, check{"", nnapi.Gather, []arg{x, num(0), list(2)}, one(nil), 0})
	fails(t, check{"", nnapi.Gather, []arg{x, num(0), list(-1)}, one(nil), 0})
	for i, v := range likes(seq(1, 1, 6), 3, 2) {
		y := likes(v1(5, 6, 1, 2), 2, 2)[i]
		check{"rows " + v.Type.String(), nnapi.EmbeddingLookup, []arg{list(2, 0), v}, []arg{y}, 1e-9}.run(t)
		if v.Type == nnapi.TensorFloat32 || v.Type == nnapi.TensorInt32 || v.Type == nnapi.TensorQuant8Asymm {
			hits := u8(1, 0, v1(1, 0, 1), 3)
			y = likes(v1(5, 6, 0, 0, 1, 2), 3, 2)[i]
			check{"rows " + v.Type.String(), nnapi.HashtableLookup, []arg{list(12, 7, 3), list(3, 5, 12), v}, []arg{y, hits},
				1e-9}.run(t)
		}
	}
	fails(t, check{"", nnapi.EmbeddingLookup, []arg{list(3), x}, one(nil), 0})
	moves(t, "three groups", nnapi.ChannelShuffle, f32(seq(0, 1, 12), 2, 6), []arg{num(3), num(1)},
		one(v1(0, 2, 4, 1, 3, 5, 6, 8, 10, 7, 9, 11), 2, 6), false)
	moves(t, "first axis", nnapi.ChannelShuffle, f32(seq(0, 1, 4), 4, 1), []arg{num(2), num(-2)},
		one(v1(0, 2, 1, 3), 4, 1), false)
	refused(t, check{"", nnapi.ChannelShuffle, []arg{f32(nil, 5), num(2), num(0)}, one(nil), 0}, "input 1 (groups)")
	check{"float32", nnapi.Fill, []arg{list(2, 2), real(1.5)}, []arg{f32(v1(1.5, 1.5, 1.5, 1.5), 2, 2)}, 0}.run(t)
	check{"float16", nnapi.Fill, []arg{list(2), forms[1].scalar(1.5)}, []arg{forms[1].put(v1(1.5, 1.5), 2)}, 0}.run(t)
	check{"int32", nnapi.Fill, []arg{list(2), num(-7)}, []arg{i32(v1(-7, -7), 2)}, 0}.run(t)
}

func TestPadding(t *testing.T) {
	pads := func(v ...float64) arg { return i32(v, uint32(len(v)/2), 2) }
	x := v1(1, 2, 3, 4)
	for i, a := range likes(x, 2, 2) {
		zero := float64(a.ZeroPoint)
		like := func(v []float64, d ...uint32) []arg { return []arg{likes(v, d...)[i]} }
		if a.Type != nnapi.TensorInt32 {
			check{a.Type.String(), nnapi.Pad, []arg{a, pads(1, 0, 0, 2)},
				like(v1(zero, zero, zero, zero, 1, 2, zero, zero, 3, 4, zero,
					zero), 3, 4), 1e-9}.run(t)
			value := map[bool]arg{true: num(9), false: real(9)}[a.Scale != 0]
			if a.Type == nnapi.TensorFloat16 {
				value.Type = nnapi.Float16
			}
			check{a.Type.String(), nnapi.PadV2, []arg{a, pads(0, 1, 1, 0), value}, like(v1(9, 1, 2, 9, 3, 4, 9, 9, 9), 3, 3),
				1e-9}.run(t)
		}
		check{"reflect " + a.Type.String(), nnapi.MirrorPad, []arg{a, pads(1, 1, 0, 1), num(0)},
			like(v1(3, 4, 3, 1, 2, 1, 3, 4, 3, 1, 2,
				1), 4, 3), 1e-9}.run(t)
		check{"symmetric " + a.Type.String(), nnapi.MirrorPad, []arg{a, pads(0, 2, 2, 0), num(1)},
			like(v1(2, 1, 1, 2, 4, 3, 3, 4, 4, 3,
				3, 4, 2, 1, 1, 2), 4, 4), 1e-9}.run(t)
	}
	a, out := f32(x, 2, 2), []arg{f32(nil)}
	refused(t, check{"", nnapi.Pad, []arg{a, pads(-1, 0, 0, 0)}, out, 0},
		"input 1 (paddings): padding of dimension 0: want 0 or more")
	refused(t, check{"", nnapi.Pad, []arg{a, pads(1, 0)}, out, 0}, "input 1 (paddings): want 2 elements")
	refused(t, check{"", nnapi.MirrorPad, []arg{a, pads(2, 0, 0, 0), num(0)}, out, 0}, "want at most 1, got 2")
	refused(t, check{"", nnapi.MirrorPad, []arg{a, pads(3, 0, 0, 0), num(1)}, out, 0}, "want at most 2, got 3")
	refused(t, check{"", nnapi.MirrorPad, []arg{a, pads(1, 0, 0, 0), num(2)}, out, 0}, "input 2 (mode)")
	fails(t, check{"", nnapi.Pad, []arg{a, pads(-1, 0, 0, 0)}, out, 0})
	fails(t, check{"", nnapi.MirrorPad, []arg{a, pads(2, 0, 0, 0), num(0)}, out, 0})
	fails(t, check{"", nnapi.MirrorPad, []arg{a, pads(3, 0, 0, 0), num(1)}, out, 0})
	refused(t, check{"", nnapi.PadV2, []arg{u8(1, 0, x, 2, 2), pads(1, 0, 0, 0), num(256)}, []arg{u8(1, 0, nil)}, 0},
		"input 2 (value)")
}

// nchw returns an operand [N,H,W,C] as [N,C,H,W].
func nchw(a arg) arg {
	n, h, w, c := int(a.Dims[0]), int(a.Dims[1]), int(a.Dims[2]), int(a.Dims[3])
	out := a
	out.Dims = []uint32{a.Dims[0], a.Dims[3], a.Dims[1], a.Dims[2]}
	out.values = make([]float64, len(a.values))
	for i := range n {
		for y := range h {
			for x := range w {
				for k := range c {
					out.values[((i*c+k)*h+y)*w+x] = a.values[((i*h+y)*w+x)*c+k]
				}
			}
		}
	}
	return out
}

func TestBlocks(t *testing.T) {
	for i, deep := range likes(seq(0, 1, 16), 1, 1, 2, 8)[:4] {
		like := func(v []float64, d ...uint32) arg { return likes(v, d...)[i] }
		name := deep.Type.String()
		wide := like(v1(0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7, 12, 13, 14, 15), 1, 2, 4, 2)
		check{name, nnapi.DepthToSpace, []arg{deep, num(2)}, []arg{wide}, 1e-9}.run(t)
		check{name + " NCHW", nnapi.DepthToSpace, []arg{nchw(deep), num(2), flag(true)}, []arg{nchw(wide)}, 1e-9}.run(t)
		check{name, nnapi.SpaceToDepth, []arg{wide, num(2), flag(false)}, []arg{deep}, 1e-9}.run(t)
		check{name + " NCHW", nnapi.SpaceToDepth, []arg{nchw(wide), num(2), flag(true)}, []arg{nchw(deep)}, 1e-9}.run(t)
		batch := like(seq(1, 1, 6), 6, 1, 1, 1)
		image := like(seq(1, 1, 6), 1, 2, 3, 1)
		check{name, nnapi.BatchToSpaceND, []arg{batch, list(2, 3)}, []arg{image}, 1e-9}.run(t)
		check{name, nnapi.SpaceToBatchND, []arg{image, list(2, 3), i32(v1(0, 0, 0, 0), 2, 2)}, []arg{batch}, 1e-9}.run(t)
		check{name + " NCHW", nnapi.SpaceToBatchND, []arg{nchw(image), list(2, 3), i32(v1(0, 0, 0, 0), 2, 2), flag(true)},
			[]arg{nchw(batch)}, 1e-9}.run(t)
		z := float64(deep.ZeroPoint)
		check{name + " padded", nnapi.SpaceToBatchND, []arg{like(v1(1, 2, 3), 1, 1, 3, 1), list(1, 2),
			i32(v1(0, 0, 0, 1), 2, 2)},
			[]arg{like(v1(1, 3, 2, z), 2, 1, 2, 1)}, 1e-9}.run(t)
	}
	x, y := f32(nil, 1, 2, 2, 3), []arg{f32(nil)}
	refused(t, check{"", nnapi.DepthToSpace, []arg{x, num(2)}, y, 0}, "channels")
	refused(t, check{"", nnapi.SpaceToDepth, []arg{x, num(0)}, y, 0}, "input 1 (block size): want 1 to")
	refused(t, check{"", nnapi.BatchToSpaceND, []arg{x, list(1, 2)}, y, 0}, "batch")
	refused(t, check{"", nnapi.BatchToSpaceND, []arg{x, list(1)}, y, 0}, "input 1 (block sizes): want 2 sizes, got 1")
}
