package lowering

import (
	"math"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/spec/nnapi"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	lowerAll(map[nnapi.OperationCode]func(n *node){
		nnapi.AxisAlignedBBoxTransform: func(n *node) {
			n.emit(&op.AxisAlignedBoxTransform{}, n.in(0), n.in(1), n.in(2), n.in(3))
		},
		nnapi.BoxWithNMSLimit:         lowerBoxWithNMSLimit,
		nnapi.GenerateProposals:       lowerGenerateProposals,
		nnapi.HeatmapMaxKeypoint:      lowerHeatmapMaxKeypoint,
		nnapi.DetectionPostprocessing: lowerDetectionPostprocessing,
		nnapi.ROIAlign:                lowerROIAlign,
		nnapi.ROIPooling:              lowerROIPooling,
	})
}

// positive reads a scalar that must be finite and above 0.
func (n *node) positive(i int) float32 {
	v := n.float(i)
	if !(v > 0) || math.IsInf(float64(v), 0) {
		n.fail(fault.Argument, "%s: want a finite number above 0, got %v [nnapi-finite-number-above]", n.term(i), v)
	}
	return v
}

// size32 reads an INT32 scalar of at least lo.
func (n *node) size32(i int, lo int64) int64 {
	v := n.int(i)
	n.within(i, v, lo, math.MaxInt32)
	return v
}

var nmsKernels = map[int64]op.NMSKernel{nnapi.NMSHard: op.NMSHard, nnapi.NMSLinear: op.NMSLinear,
	nnapi.NMSGaussian: op.NMSGaussian}

func lowerBoxWithNMSLimit(n *node) {
	kernel := n.int(5)
	n.within(5, kernel, nnapi.NMSHard, nnapi.NMSGaussian)
	o := &op.BoxWithNMSLimit{Kernel: nmsKernels[kernel], Score: n.float(3), Max: n.int(4), IoU: n.float(6),
		Sigma: n.float(7), Keep: n.float(8)}
	n.emit(o, n.in(0), n.in(1), n.in(2))
}

func lowerGenerateProposals(n *node) {
	o := &op.GenerateProposals{StrideHeight: n.float(4), StrideWidth: n.float(5), Before: n.int(6), After: n.int(7),
		IoU: n.float(8), MinSize: n.float(9), ChannelsLast: n.channelsLast(10)}
	n.emit(o, n.in(0), n.in(1), n.in(2), n.in(3))
}

// halfDeterminant is below which determinant the reference gives up in float16.
const halfDeterminant = 1e-3

func lowerHeatmapMaxKeypoint(n *node) {
	o := &op.HeatmapMaxKeypoint{ChannelsLast: n.channelsLast(2), Square: true}
	if n.operand(0).Type == nnapi.TensorFloat16 {
		o.Epsilon = halfDeterminant
	}
	n.emit(o, n.in(0), n.in(1))
}

func lowerROIAlign(n *node) {
	o := &op.RoiAlign{Height: n.size32(3, 1), Width: n.size32(4, 1), ScaleHeight: 1 / n.positive(5),
		ScaleWidth: 1 / n.positive(6), SamplesHeight: n.size32(7, 0), SamplesWidth: n.size32(8, 0), Inside: true,
		ChannelsLast: n.channelsLast(9)}
	n.emit(o, n.in(0), n.in(1), n.in(2))
}

// lowerROIPooling puts the batch index before the corners of each region.
func lowerROIPooling(n *node) {
	o := &op.MaxRoiPool{Height: n.size32(3, 1), Width: n.size32(4, 1), ScaleHeight: 1 / n.positive(5),
		ScaleWidth: 1 / n.positive(6), Inside: true, ChannelsLast: n.channelsLast(7)}
	batches := n.add(&op.Unsqueeze{}, n.add(&op.Cast{To: tensor.Float32}, n.in(2)), n.int64s(1))
	regions := n.in(1)
	if n.fact(regions).DType != tensor.Float32 {
		regions = n.real(regions)
	}
	n.emit(o, n.in(0), n.add(&op.Concat{Axis: 1}, batches, regions))
}

// lowerDetectionPostprocessing takes class 0 for the background. Core numbers the classes behind it from 0; with input
// 13 they are numbered from 1 in the rows that hold a detection.
func lowerDetectionPostprocessing(n *node) {
	regular := n.flag(7)
	o := &op.DetectionPostProcess{MaxDetections: n.size32(8, 1), Score: n.float(11),
		IoU: n.float(12), Regular: regular,
		Scale: []float32{n.positive(3), n.positive(4), n.positive(5), n.positive(6)}}
	perDetection, perClass := n.size32(9, 1), n.size32(10, 1)
	if regular {
		o.DetectionsPerClass = perClass
	} else {
		o.MaxClasses = perDetection
	}
	if !(o.Score >= 0) || !(o.IoU >= 0) {
		n.fail(fault.Argument, "%s and %s: want 0 or more, got %v and %v "+
			"[nnapi-negative-pair]", n.term(11), n.term(12), o.Score, o.IoU)
	}
	out := n.many(o, make([]tensor.Type, 4), n.in(1), n.in(0), n.in(2))
	boxes, labels, scores, count := out[0], out[1], out[2], out[3]
	if n.flag(13) && n.ok() {
		rows := n.add(&op.Range{}, n.b.Float32(0), n.add(&op.Cast{To: tensor.Float32},
			n.add(&op.Squeeze{}, n.size(labels, 1))),
			n.b.Float32(1))
		used := n.add(&op.Less{}, rows, n.add(&op.Unsqueeze{}, count, n.int64s(1)))
		labels = n.add(&op.Add{}, labels, n.add(&op.Cast{To: tensor.Float32}, used))
	}
	n.emitReal(0, scores)
	n.emitReal(1, boxes)
	n.put(2, n.add(&op.Cast{To: tensor.Int32}, labels))
	n.put(3, n.add(&op.Cast{To: tensor.Int32}, count))
}
