package ohnn

import (
	"math"
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op"
)

func init() {
	lowerAll(map[string]func(n *node) error{
		"DETECTION_POST_PROCESS": lowerDetection,
		"ASSERT":                 lowerAssert,
	})
}

// lowerDetection: INPUT_SIZE and OUT_QUANTIZED mean nothing to the computation.
func lowerDetection(n *node) error {
	regular := n.flag("USE_REGULAR_NMS", false)
	for _, p := range []struct {
		name   string
		lo, hi int64
	}{
		{"MAX_DETECTIONS", 1, math.MaxInt64}, {"NUM_CLASSES", 1, math.MaxInt32},
		{"MAX_CLASSES_PER_DETECTION", map[bool]int64{false: 1}[regular], math.MaxInt32},
		{"DETECTIONS_PER_CLASS", map[bool]int64{true: 1}[regular], math.MaxInt64},
	} {
		if err := n.wantWithin(p.name, 0, p.lo, p.hi); err != nil {
			return err
		}
	}
	for i, rank := range []int{3, 3, 2} {
		if err := n.wantRank(i, rank, rank); err != nil {
			return err
		}
	}
	scale := n.floats("SCALE")
	switch {
	case !n.has("SCALE"):
		return fault.New(fault.Argument, "SCALE is missing: want the scales of y, x, height and width "+
			"[ohnn-scale-missing-scales]")
	case len(scale) != 4 || !(slices.Min(scale) > 0):
		return fault.New(fault.Argument, "SCALE: %v: want the scales of y, x, height and width, 4 numbers above "+
			"0 [ohnn-scale-scales-y]", scale)
	}
	return n.emit(&op.DetectionPostProcess{
		MaxDetections: n.int("MAX_DETECTIONS", 0), MaxClasses: n.int("MAX_CLASSES_PER_DETECTION", 0),
		DetectionsPerClass: n.int("DETECTIONS_PER_CLASS", 0), Classes: n.int("NUM_CLASSES", 0),
		IoU: n.float("NMS_IOU_THRESHOLD", 0), Score: n.float("NMS_SCORE_THRESHOLD", 0),
		Scale: scale, Regular: regular,
	}, n.ins()...)
}

// lowerAssert: SUMMARIZE is how much of the data upstream prints.
func lowerAssert(n *node) error {
	c, err := n.condition()
	if err != nil {
		return err
	}
	return n.emit(&op.Assert{}, c, n.in(1))
}
