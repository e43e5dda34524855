package nnapi

import (
	"github.com/anynpu/anynpu/core/op"
	spec "github.com/anynpu/anynpu/core/spec/nnapi"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(map[string]func(t *translation) error{
		"axis_aligned_box_transform": func(t *translation) error {
			t.add(spec.AxisAlignedBBoxTransform, t.Out(0), t.Operands(t.N.In)...)
			return nil
		},
		"heatmap_max_keypoint":   lowerHeatmapMaxKeypoint,
		"roi_align":              lowerROIAlign,
		"max_roi_pool":           lowerROIPooling,
		"detection_post_process": lowerDetectionPostprocessing,
		"hashtable_lookup": func(t *translation) error {
			t.addMulti(spec.HashtableLookup, []*operand{t.Out(0), t.Out(1)}, t.Operands(t.N.In)...)
			return nil
		},
		"lsh_projection": lowerLSHProjection,
	})
}

// halfDeterminant is below which determinant the API gives up in float16, otherDeterminant elsewhere.
const halfDeterminant, otherDeterminant = 1e-3, 1e-5

func lowerHeatmapMaxKeypoint(t *translation) error {
	o, x := t.N.Op.(*op.HeatmapMaxKeypoint), t.In(0)
	epsilon, want := o.Epsilon, float32(otherDeterminant)
	if epsilon == 0 {
		epsilon = otherDeterminant
	}
	if x.typ.DType == tensor.Float16 {
		want = halfDeterminant
	}
	if epsilon != want {
		return refuse("HEATMAP_MAX_KEYPOINT has an epsilon of its own")
	}
	side := 2
	if o.ChannelsLast {
		side = 1
	}
	if dims, ok := x.typ.Shape.Ints(); ok && dims[side] != dims[side+1] {
		return refuse("HEATMAP_MAX_KEYPOINT has squares")
	}
	t.addMulti(spec.HeatmapMaxKeypoint, []*operand{t.Out(0), t.Out(1)}, t.Image(x, o.ChannelsLast), t.In(1),
		boolScalar(false))
	return nil
}

// ratio is how much smaller than its regions an image is, which core says the other way round.
func ratio(scale float32, like *operand) *operand {
	if scale == 0 {
		scale = 1
	}
	return floatScalar(1/scale, like)
}

func lowerROIAlign(t *translation) error {
	o, x := t.N.Op.(*op.RoiAlign), t.In(0)
	switch {
	case o.Mode != op.RoiAverage || o.HalfPixel:
		return refuse("ROI_ALIGN has means of samples at whole pixels")
	case !o.Inside:
		return refuse("a region that reaches out of the image is an error of ROI_ALIGN")
	}
	return t.image(spec.ROIAlign, o.ChannelsLast, t.In(1), t.In(2), int32Scalar(o.Height), int32Scalar(o.Width),
		ratio(o.ScaleHeight, x), ratio(o.ScaleWidth, x), int32Scalar(o.SamplesHeight), int32Scalar(o.SamplesWidth),
		boolScalar(false))
}

// lowerROIPooling takes the batch index from before the corners of a region if it stands there.
func lowerROIPooling(t *translation) error {
	o, x := t.N.Op.(*op.MaxRoiPool), t.In(0)
	if !o.Inside {
		return refuse("a region that reaches out of the image is an error of ROI_POOLING")
	}
	regions, batches := t.In(1), t.In(2)
	if batches == nil {
		n := regions.Dims()[0]
		column, row := regions.Between(n, 1), regions.Between(n)
		corners := regions.Between(n, 4)
		batches = &operand{code: spec.TensorInt32, typ: tensor.T(tensor.Int32, n)}
		t.add(spec.Slice, column, regions, list(0, 0), list(n, 1))
		t.reshape(column, row)
		t.add(spec.Cast, batches, row)
		t.add(spec.Slice, corners, regions, list(0, 1), list(n, 4))
		regions = corners
	}
	return t.image(spec.ROIPooling, o.ChannelsLast, regions, batches, int32Scalar(o.Height), int32Scalar(o.Width),
		ratio(o.ScaleHeight, x), ratio(o.ScaleWidth, x), boolScalar(false))
}

// lowerDetectionPostprocessing: what is a number in core's results is an integer in the API's.
func lowerDetectionPostprocessing(t *translation) error {
	o, x := t.N.Op.(*op.DetectionPostProcess), t.In(0)
	switch {
	case o.Classes != 0 && o.Classes != t.In(1).Dims()[2]-1:
		return refuse("the first class of DETECTION_POSTPROCESSING is the background")
	case x.typ.Quant != nil || x.typ.DType != tensor.Float32:
		return refuse("DETECTION_POSTPROCESSING is asked for float32")
	}
	integers := func(k int) *operand {
		return &operand{code: spec.TensorInt32, typ: tensor.T(tensor.Int32, t.Out(k).Dims()...)}
	}
	classes, counts := integers(1), integers(3)
	in := []*operand{t.In(1), x, t.In(2)}
	for _, s := range o.Scale {
		in = append(in, floatScalar(s, x))
	}
	in = append(in, boolScalar(o.Regular), int32Scalar(o.MaxDetections), int32Scalar(max(1, o.MaxClasses)),
		int32Scalar(max(1, o.DetectionsPerClass)), floatScalar(o.Score, x), floatScalar(o.IoU, x), boolScalar(false))
	t.addMulti(spec.DetectionPostprocessing, []*operand{t.Out(2), t.Out(0), classes, counts}, in...)
	t.add(spec.Cast, t.Out(1), classes)
	t.add(spec.Cast, t.Out(3), counts)
	return nil
}

func lowerLSHProjection(t *translation) error {
	form := map[op.LSHForm]int64{op.LSHPlain: spec.LSHSparseDeprecated, op.LSHDense: spec.LSHDense,
		op.LSHSparse: spec.LSHSparse}[t.N.Op.(*op.LSHProjection).Form]
	if (form == spec.LSHDense) != (t.In(2) != nil) {
		return refuse("LSH_PROJECTION has weights where it is dense, and none elsewhere")
	}
	t.add(spec.LSHProjection, t.Out(0), t.In(0), t.In(1), t.orNone(2, t.In(0)), int32Scalar(form))
	return nil
}
