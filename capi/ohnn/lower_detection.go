package ohnn

import (
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
	for _, name := range []string{"MAX_DETECTIONS", "NUM_CLASSES"} {
		if err := n.wantPositive(name); err != nil {
			return err
		}
	}
	scale := n.floats("SCALE")
	if len(scale) != 4 {
		return fault.New(fault.Argument, "SCALE: %v: want the scales of y, x, height and width", scale)
	}
	return n.emit(&op.DetectionPostProcess{
		MaxDetections: n.int("MAX_DETECTIONS", 0), MaxClasses: n.int("MAX_CLASSES_PER_DETECTION", 0),
		DetectionsPerClass: n.int("DETECTIONS_PER_CLASS", 0), Classes: n.int("NUM_CLASSES", 0),
		IoU: n.float("NMS_IOU_THRESHOLD", 0), Score: n.float("NMS_SCORE_THRESHOLD", 0),
		Scale: scale, Regular: n.flag("USE_REGULAR_NMS", false),
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
