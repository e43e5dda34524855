package hbdnn

import (
	"unsafe"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/fault"
)

// Regions and images are not scaled: both functions judge what they are given (section 8, section 11) and refuse then.

// dnnRoiInfer is refused.
func dnnRoiInfer(_, output *uintptr, _ *Tensor, first *Roi, count int32, _ *Model, c *InferCtrlParam) error {
	if *output == 0 {
		return invalid("output points to NULL: want the array of the model's output tensors")
	}
	if err := checkControl(c); err != nil {
		return err
	}
	switch {
	case count <= 0:
		return invalid("roiCount is %d: want at least one region", count)
	case count > maxMembers:
		return refuse(errBatch, "roiCount is %d: a task has at most %d regions", count, maxMembers)
	}
	if err := boundary.CheckRange(unsafe.Pointer(first), uint64(count)*uint64(unsafe.Sizeof(*first))); err != nil {
		return fault.Wrap(err, "rois")
	}
	for i, r := range unsafe.Slice(first, int(count)) {
		if r.left > r.right || r.top > r.bottom {
			return invalid("rois[%d] is left %d, top %d, right %d, bottom %d: want left <= right and top <= bottom", i, r.left,
				r.top, r.right, r.bottom)
		}
	}
	return misused("rois: regions of an image are not cut out and scaled by this library, which wants operators for it that " +
		"it does not have: scale the region to the model's input and call hbDNNInfer")
}

// dnnResize is refused.
func dnnResize(to *uintptr, _, _ *Tensor, r *Roi, c *ResizeCtrlParam) error {
	*to = 0
	switch {
	case c.priority < 0 || c.priority > preemptive:
		return invalid("resizeCtrlParam->priority is %d: want 0 to %d", c.priority, preemptive)
	case c.bpu < 0 || c.bpu > maxCore:
		return invalid("resizeCtrlParam->bpuCoreId is %d: want 0, or the sum of HB_BPU_CORE_0 (1) and HB_BPU_CORE_1 (2)", c.bpu)
	case c.kind != resizeBilinear:
		return invalid("resizeCtrlParam->resizeType is %d: want HB_DNN_RESIZE_TYPE_BILINEAR (0)", c.kind)
	case r != nil && (r.left > r.right || r.top > r.bottom):
		return invalid("roi is left %d, top %d, right %d, bottom %d: want left <= right and top <= bottom", r.left, r.top, r.right,
			r.bottom)
	}
	return misused("input: images are not scaled by this library, which wants operators for it that it does not have: scale " +
		"them in the program")
}
