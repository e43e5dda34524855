package nnapi

import (
	"os"
	"slices"
	"testing"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
	dt "github.com/anynpu/anynpu/internal/drivertest"
)

// libraryVariable names the library that stands in for a vendor's in a child of this test.
const libraryVariable = "ANYNPU_TEST_NNAPI_LIBRARY"

// TestTurns_byThisLibrary has AnyNPU's own library of NNAPI, which knows every operation, stand in for a driver: what a
// node becomes and what the façade makes of that must be what the node was.
func TestTurns_byThisLibrary(t *testing.T) {
	if os.Getenv(libraryVariable) == "" {
		dt.InChild(t, libraryVariable, "libneuralnetworks.so", "ANYNPU_NNAPI=cpu", "ANYNPU_NNAPI_DEVICES=npu:as-accelerator")
		return
	}
	left := map[string]bool{}
	for name := range turns {
		left[name] = true
	}
	dt.Turns(t, os.Getenv(libraryVariable), openOwn, slices.Concat(dt.Operators(), operators(), imageOperators(),
		recurrentOperators(), detectionOperators(), findingOperators(), controlOperators()), left)
}

// openOwn opens the library that stands in for a vendor's.
func openOwn(file string, lookup func(symbol string) uintptr) (device.Device, error) {
	all, err := Open(Bind(file, lookup), driver.Config{ID: "own", Name: "AnyNPU"})
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// operators are the nodes of this API beside those of all.
func operators() []dt.Node {
	codes := func(scale float32, dims ...int64) dt.Operand { return dt.Codes(tensor.Int8, scale, dims...) }
	bytes := func(scale float32, dims ...int64) dt.Operand { return dt.Codes(tensor.Uint8, scale, dims...) }
	halves := func(dims ...int64) dt.Operand { return dt.Of(tensor.Float16, dims...) }
	bias := func(n int64) dt.Operand { return dt.Fixed(dt.Integers(n)) }
	channels := func(axis int, dims ...int64) dt.Operand {
		o := dt.Of(tensor.Int8, dims...)
		o.Type.Quant = &tensor.Quant{Axis: axis}
		for i := range dims[axis] {
			o.Type.Quant.Scale = append(o.Type.Quant.Scale, 0.25+float32(i)/8)
		}
		return dt.Fixed(o)
	}
	images := &op.Conv{Groups: 1, ChannelsLast: true}
	return []dt.Node{
		dt.One(&op.Div{Rounding: op.DivFloor}, dt.Integers(4), dt.Operand{Type: tensor.T(tensor.Int32, 4),
			Constant: tensor.Int32s(1, 2, -2, 3)}),
		dt.One(&op.Max{}, dt.Integers(2, 3), dt.Integers(3)),
		dt.One(&op.PRelu{}, dt.X, dt.Fixed(dt.Real(4))),
		dt.One(&op.Elu{Alpha: 0.5}, dt.X),
		dt.One(&op.Elu{Alpha: 0.5}, halves(2, 3)),
		dt.One(&op.Clip{}, dt.X, dt.Bound(-1), dt.Bound(1)),
		dt.One(&op.Clip{}, bytes(0.25, 2, 3), dt.Bound(0), dt.Bound(6)),
		dt.One(&op.Convert{}, dt.Real(2, 3)).To(bytes(0.125, 2, 3)),
		dt.One(&op.Convert{}, dt.Real(2, 3)).To(codes(0.125, 2, 3)),
		dt.One(&op.Convert{}, codes(0.5, 2, 3)).To(dt.Real(2, 3)),
		dt.One(&op.Convert{}, dt.Real(2, 3)).To(halves(2, 3)),
		dt.One(&op.Where{}, dt.Bools(2, 3, 4), dt.X, dt.Real(2, 3, 4)),
		dt.One(&op.Add{}, codes(0.5, 2, 3), codes(0.25, 3)),
		dt.One(&op.Mul{}, bytes(0.5, 2, 3), bytes(0.25, 3)).To(bytes(0.5, 2, 3)),
		dt.One(&op.Add{}, halves(2, 3), halves(3)),
		dt.One(&op.Conv{Groups: 4, ChannelsLast: true, Dilations: []int64{1, 2}}, dt.Last, dt.Fixed(dt.Real(4, 2, 2, 1))),
		dt.One(&op.Conv{Groups: 4, ChannelsLast: true}, dt.Last, dt.Real(8, 2, 2, 1)),
		dt.One(images, codes(0.5, 1, 5, 5, 2), dt.Fixed(codes(0.25, 3, 2, 2, 2))).To(codes(2, 1, 4, 4, 3)),
		dt.One(images, codes(0.5, 1, 5, 5, 2), channels(0, 3, 2, 2, 2), bias(3)).To(codes(2, 1, 4, 4, 3)),
		dt.One(&op.Conv{Groups: 2, ChannelsLast: true}, bytes(0.5, 1, 5, 5, 2), channels(0, 4, 2, 2, 1),
			bias(4)).To(bytes(2, 1, 4, 4, 4)),
		dt.One(&op.AveragePool{Kernel: []int64{2, 2}, Strides: []int64{2, 2}, Ceil: op.RoundCeil}, dt.First),
		dt.One(&op.FullyConnected{}, dt.Real(2, 3, 4), dt.Fixed(dt.Real(5, 4))),
		dt.One(&op.FullyConnected{}, dt.Real(4), dt.Fixed(dt.Real(5, 4))),
		dt.One(&op.FullyConnected{}, bytes(0.5, 3, 4), dt.Fixed(bytes(0.25, 5, 4)), bias(5)).To(bytes(4, 3, 5)),
		dt.One(&op.MatMul{TransposeA: true}, dt.Real(2, 4, 3), dt.Real(2, 4, 5)),
		dt.One(&op.MatMul{TransposeA: true}, dt.Real(4, 3), dt.Real(4, 5)),
		dt.One(&op.MatMul{}, dt.Real(2, 3, 4), dt.Fixed(dt.Real(4, 5)), dt.Fixed(dt.Real(5))),
		dt.One(&op.Unsqueeze{}, dt.X, dt.Numbers(0)),
		dt.One(&op.Transpose{}, codes(0.5, 2, 3)),
		dt.One(&op.Pad{}, dt.X, dt.Numbers(0, 1, 0, 2, 0, 1)),
		dt.One(&op.Gather{NegativeWraps: true}, dt.X, dt.Numbers(-1, 0), dt.Numbers(1)),
		dt.One(&op.Gather{}, dt.X, dt.Numbers(1, 0, 1)),
		dt.One(&op.Softmax{Axis: -1, Beta: 2}, dt.X),
		dt.One(&op.ReduceMean{}, codes(0.5, 2, 3), dt.Numbers(0)),
		dt.One(&op.ReduceSum{}, dt.X, dt.Numbers(0, 1, 2)),
		dt.One(&op.ReduceAll{}, dt.Bools(2, 3), dt.Numbers(1)),
		dt.One(&op.ReduceAny{KeepDims: true}, dt.Bools(2, 3), dt.Numbers(1)),
		dt.One(&op.Slice{}, dt.X, dt.Numbers(-1, 0), dt.Numbers(-100, 4), dt.Numbers(1, 2), dt.Numbers(-1, 3)),
		dt.One(&op.Slice{}, dt.X, dt.Numbers(2), dt.Numbers(-100), dt.Numbers(1), dt.Numbers(-1)),
		dt.One(&op.Slice{}, codes(0.5, 2, 9), dt.Numbers(7), dt.Numbers(1), dt.Numbers(-1), dt.Numbers(-2)),
		dt.One(&op.StridedSlice{BeginMask: 1, EndMask: 2, ShrinkAxisMask: 4}, dt.X, dt.Numbers(1, 0, -1),
			dt.Numbers(2, 1, 9), dt.Numbers(1, 2, 1)),
		dt.One(&op.StridedSlice{}, dt.X, dt.Numbers(1), dt.Numbers(2), dt.Numbers(1)),
		dt.One(&op.Pad{}, dt.X, dt.Numbers(1, 2), dt.Bound(-1), dt.Numbers(-1)),
		dt.One(&op.Pad{Mode: op.PadReflect}, dt.X, dt.Numbers(1, 0, 2, 0, 1, 3)),
		dt.One(&op.Pad{Mode: op.PadSymmetric}, dt.Integers(2, 3), dt.Numbers(2, 3, 0, 1)),
		dt.One(&op.Pad{}, codes(0.5, 2, 3), dt.Numbers(1, 1, 0, 2)),
		dt.One(&op.Pad{}, bytes(0.5, 2, 3), dt.Numbers(1, 1, 0, 2), dt.Operand{Type: tensor.T(tensor.Uint8),
			Constant: []byte{7}}),
		dt.One(&op.TopK{Axis: -1, SelectLast: true, To: tensor.Int32}, dt.X, dt.Numbers(2)).Gives(2),
		dt.One(&op.TopK{Axis: 0, SelectLast: true, To: tensor.Int32}, codes(0.5, 5), dt.Numbers(3)).Gives(2),
		dt.One(&op.TopK{SelectLast: true}, dt.X, dt.Numbers(2)),
		dt.One(&op.ArgMax{Axis: 1, To: tensor.Int32}, dt.X),
		dt.One(&op.ArgMax{Axis: -2, KeepDims: true, To: tensor.Int32}, codes(0.5, 2, 3, 2)),
		dt.One(&op.ArgMin{Axis: -1, To: tensor.Int32}, dt.Real(7)),
		dt.One(&op.Split{Axis: -1}, dt.X).Gives(2),
		dt.One(&op.Split{Axis: 1}, dt.X, dt.Numbers(1, 2)).Gives(2),
		dt.One(&op.Expand{}, dt.Real(3, 1), dt.Numbers(2, 1, 4)),
		dt.One(&op.Expand{}, dt.Integers(3), dt.Numbers(2, 3)),
		dt.One(&op.L2Normalize{Epsilon: 1e-12}, dt.X, dt.Numbers(1)),
		dt.One(&op.L2Normalize{Epsilon: 1e-12}, dt.Last, dt.Numbers(-1)),
		dt.One(&op.LRN{Before: 1, After: 1, Alpha: 0.5, Beta: 0.75, Bias: 1, Axis: 1, DivideAlpha: true}, dt.First),
		dt.One(&op.LRN{Before: 2, After: 2, Alpha: 0.5, Beta: 0.5, Bias: 2, Axis: -1}, dt.X),
		dt.One(&op.BatchNorm{Epsilon: 1e-3, Axis: 1}, dt.First, dt.Fixed(dt.Real(4)), dt.Fixed(dt.Real(4)),
			dt.Fixed(dt.Real(4)), dt.Positive(dt.Real(4))),
		dt.One(&op.BatchNorm{Epsilon: 1e-3, Axis: 1}, dt.X, dt.Fixed(dt.Real(3)), dt.Fixed(dt.Real(3)),
			dt.Fixed(dt.Real(3)), dt.Positive(dt.Real(3))),
		dt.One(&op.InstanceNorm{Epsilon: 1e-3, Axis: 1}, dt.First, dt.Fixed(dt.Real(4)), dt.Fixed(dt.Real(4))),
		dt.One(&op.InstanceNorm{Epsilon: 1e-3, Axis: -1}, dt.Last, uniform(0.5, 4), uniform(-1, 4)),
		dt.One(&op.LayerNorm{Axis: 1, Epsilon: 1e-3}, dt.X, dt.Fixed(dt.Real(3, 4)), dt.Real(4)).Gives(3),
		dt.One(&op.LayerNorm{Axis: -1, Epsilon: 1e-3}, dt.X),
		dt.One(&op.RMSNorm{Axis: -1, Epsilon: 1e-3}, dt.X, dt.Fixed(dt.Real(4))),
	}
}

// uniform is a constant whose n numbers are all the same.
func uniform(x float32, n int) dt.Operand {
	return dt.Operand{Type: tensor.T(tensor.Float32, int64(n)), Constant: tensor.Float32s(slices.Repeat([]float32{x}, n)...)}
}

// imageOperators are nodes of images.
func imageOperators() []dt.Node {
	codes := func(scale float32, dims ...int64) dt.Operand { return dt.Codes(tensor.Int8, scale, dims...) }
	sizes := func(o op.Resize, x dt.Operand, h, w int64) dt.Node {
		o.Axes = []int64{2, 3}
		return dt.One(&o, x, dt.Absent, dt.Absent, dt.Numbers(h, w))
	}
	scales := func(v ...float32) dt.Operand {
		return dt.Operand{Type: tensor.T(tensor.Float32, int64(len(v))), Constant: tensor.Float32s(v...)}
	}
	nearest, linear := op.Resize{Mode: op.ResizeNearest}, op.Resize{Mode: op.ResizeLinear}
	with := func(o op.Resize, c op.Coord, n op.NearestMode) op.Resize {
		o.Coord, o.Nearest = c, n
		return o
	}
	return []dt.Node{
		sizes(with(linear, op.CoordAsymmetric, 0), dt.First, 9, 4),
		sizes(with(linear, op.CoordAlignCorners, 0), dt.First, 9, 10),
		sizes(with(linear, op.CoordHalfPixel, 0), dt.First, 12, 3),
		sizes(with(linear, op.CoordPytorchHalfPixel, 0), dt.First, 11, 7),
		sizes(with(nearest, op.CoordAsymmetric, op.NearestFloor), dt.First, 9, 4),
		sizes(with(nearest, op.CoordAlignCorners, op.NearestRoundPreferCeil), dt.First, 4, 9),
		sizes(with(nearest, op.CoordTFHalfPixel, op.NearestFloor), dt.First, 4, 9),
		sizes(with(nearest, op.CoordHalfPixel, op.NearestRoundPreferFloor), dt.First, 12, 10),
		sizes(with(nearest, op.CoordAsymmetric, op.NearestFloor), codes(0.5, 1, 4, 6, 5), 12, 10),
		dt.One(&op.Resize{Mode: op.ResizeLinear, Axes: []int64{1, 2}}, dt.Last, dt.Absent, scales(2, 1.6)),
		dt.One(&op.Resize{Mode: op.ResizeNearest, Nearest: op.NearestFloor}, dt.First, dt.Absent, scales(1, 1, 2, 2)),
		dt.One(&op.DepthToSpace{Block: 2}, dt.First),
		dt.One(&op.DepthToSpace{Block: 2, Mode: op.CRD}, dt.Real(2, 8, 3, 2)),
		dt.One(&op.DepthToSpace{Block: 2, Mode: op.CRD, ChannelsLast: true}, codes(0.5, 1, 2, 3, 8)),
		dt.One(&op.SpaceToDepth{Block: 2}, dt.Real(2, 3, 4, 6)),
		dt.One(&op.SpaceToDepth{Block: 2, ChannelsLast: true}, codes(0.5, 1, 4, 6, 3)),
		dt.One(&op.SpaceToBatch{}, dt.First, dt.Numbers(2, 3), table(2, 0, 2, 1, 0)),
		dt.One(&op.SpaceToBatch{ChannelsLast: true}, codes(0.5, 1, 4, 6, 3), dt.Numbers(2, 2), table(2, 1, 1, 0, 2)),
		dt.One(&op.BatchToSpace{}, dt.Real(6, 2, 3, 2), dt.Numbers(2, 3)),
		dt.One(&op.LpPool{Kernel: []int64{2, 3}, Mean: true, Pads: []int64{1, 0, 0, 2}}, dt.First),
		dt.One(&op.ConvTranspose{Groups: 1, Strides: []int64{2, 3}, Pads: []int64{1, 0, 1, 2}}, dt.First,
			dt.Fixed(dt.Real(3, 3, 4, 4)), dt.Fixed(dt.Real(3))),
		dt.One(&op.ConvTranspose{Groups: 1, ChannelsLast: true, Strides: []int64{2, 2}, OutputPads: []int64{1, 1}}, dt.Last,
			dt.Fixed(dt.Real(3, 1, 1, 4))),
		dt.One(&op.ConvTranspose{Groups: 1, ChannelsLast: true, AutoPad: op.PadSameUpper, Strides: []int64{3, 2}},
			codes(0.5, 1, 3, 4, 2), dt.Fixed(codes(0.25, 3, 2, 2, 2))).To(codes(2, 1, 9, 8, 3)),
	}
}

// table is a constant table of integers with two columns.
func table(rows int64, v ...int64) dt.Operand {
	return dt.Operand{Type: tensor.T(tensor.Int64, rows, 2), Constant: tensor.Int64s(v...)}
}
