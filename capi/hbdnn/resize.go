package hbdnn

// dnnResize begins a task that scales a region of an image, all of it for NULL (section 8, section 11). The value of
// *to is not read.
func dnnResize(to *uintptr, output, input *Tensor, r *Roi, c *ResizeCtrlParam) error {
	*to = 0
	switch {
	case c.priority < 0 || c.priority > preemptive:
		return invalid("resizeCtrlParam->priority is %d: want 0 to %d "+
			"[hbdnn-resize-ctrl-param]", c.priority, preemptive)
	case c.bpu < 0 || c.bpu > maxCore:
		return invalid("resizeCtrlParam->bpuCoreId is %d: want 0, or the sum of HB_BPU_CORE_0 (1) and "+
			"HB_BPU_CORE_1 (2) [hbdnn-resize-ctrl-param-bpu]",
			c.bpu)
	case c.kind != resizeBilinear:
		return invalid("resizeCtrlParam->resizeType is %d: want HB_DNN_RESIZE_TYPE_BILINEAR (0) "+
			"[hbdnn-resize-ctrl-param-resize]", c.kind)
	case r != nil && (r.left > r.right || r.top > r.bottom):
		return invalid("roi is left %d, top %d, right %d, bottom %d: want left <= right and top <= bottom "+
			"[hbdnn-roi-left-top]", r.left, r.top,
			r.right, r.bottom)
	}
	return begin(to, &InferCtrlParam{bpu: c.bpu, priority: c.priority}, &Task{Limit: resizes, Weight: 1},
		func(t *Task) error {
			s, err := newScaled(output, input, r)
			if err == nil {
				t.Add(&member{scaled: s})
			}
			return err
		})
}

func newScaled(output, input *Tensor, r *Roi) (*scaled, error) {
	from, err := takePicture(input, "input")
	if err != nil {
		return nil, err
	}
	if r == nil {
		r = &Roi{right: int32(from.w - 1), bottom: int32(from.h - 1)}
	}
	s := &scaled{from: from}
	s.region, err = from.within(*r, "roi")
	if err == nil {
		s.to, err = takePicture(output, "output")
	}
	if err == nil && (s.to.pixel != from.pixel || s.to.interleaved != from.interleaved) {
		s.to.release()
		err = invalid("output.properties: tensorType is %s in %s: want the input's, %s in %s "+
			"[hbdnn-output-properties-tensor]",
			typeName(output.properties.kind), layoutName(output.properties.layout), typeName(input.properties.kind),
			layoutName(input.properties.layout))
	}
	if err == nil {
		if err = aimed().refuseResize(*r, from, s.to); err != nil {
			s.to.release()
		}
	}
	if err != nil {
		from.release()
		return nil, err
	}
	return s, nil
}
