package rules

import (
	"slices"

	"github.com/anynpu/anynpu/conformance/hbdnn"
)

// picture is a gray image of h x w pixels whose rows begin at multiples of pitch, with bytes that all differ nearby.
func (t *T) picture(h, w, pitch int32) hbdnn.Tensor {
	p := hbdnn.Tensor{}
	p.Mem[0] = t.Mem(h * pitch)
	p.Properties.Kind, p.Properties.Layout = hbdnn.Y, hbdnn.NCHW
	p.Properties.Valid, p.Properties.Aligned = hbdnn.ShapeOf(1, 1, h, w), hbdnn.ShapeOf(1, 1, h, pitch)
	for i, data := 0, pixels(&p); i < len(data); i++ {
		data[i] = uint8(i*37 + i/11*5)
	}
	return p
}

// pixels are the bytes of an image.
func pixels(p *hbdnn.Tensor) []uint8 { return hbdnn.Of[uint8](&p.Mem[0], int(p.Mem[0].Size)) }

// resized is what a region of an image becomes in h x w pixels: steps of 1/65536 from its first to its last row and
// column, halves of a code up (section 11).
func resized(src []uint8, pitch int, r hbdnn.Roi, h, w int) (out []uint8) {
	step := func(n, to int) int { return ((n-1)*65536 + (to-1)/2) / max(to-1, 1) }
	rows, columns := int(r.Bottom-r.Top), int(r.Right-r.Left)
	for y := range h {
		for x := range w {
			py, px := y*step(rows+1, h), x*step(columns+1, w)
			at := func(dy, dx int) uint64 {
				return uint64(src[(int(r.Top)+min(py>>16+dy, rows))*pitch+int(r.Left)+min(px>>16+dx, columns)])
			}
			fy, fx := uint64(py&65535), uint64(px&65535)
			sum := (65536-fy)*((65536-fx)*at(0, 0)+fx*at(0, 1)) + fy*((65536-fx)*at(1, 0)+fx*at(1, 1))
			out = append(out, uint8((sum+1<<31)>>32))
		}
	}
	return out
}

// roiInfer submits regions and demands a return code; after success it waits for the task.
func (t *T) roiInfer(want int, r *hbdnn.Run, n int32, c *hbdnn.Control, rois ...hbdnn.Roi) {
	task := address()
	t.Is(want, "DNNRoiInfer", task, hbdnn.Outputs(r.Out), r.In, rois, n, r.Model, c)
	if want != hbdnn.Success {
		t.Check(*task == 0, "the task is %#x, want NULL", *task)
		return
	}
	t.OK("DNNWaitTaskDone", t.Task(*task), 0)
}

// resizer is a model of gray images of 4 x 8 pixels that takes them from a region of an image of 12 x 20.
func (t *T) resizer() *hbdnn.Run {
	r := t.Prepare(image("gray", 1, 1, 4, 8).Meta("anynpu.input.x.source", "resizer"))
	r.In[0] = t.picture(12, 20, 32)
	return r
}

// resize scales a region of one image into another and demands a return code; after success it waits for the task. The
// variable of the task holds no handle before.
func (t *T) resize(want int, to, from hbdnn.Tensor, roi *hbdnn.Roi, c *hbdnn.ResizeControl) {
	task := &[]uintptr{12345}[0]
	t.Is(want, "DNNResize", task, []hbdnn.Tensor{to}, []hbdnn.Tensor{from}, roi, c)
	if want != hbdnn.Success {
		t.Check(*task == 0, "the task is %#x, want NULL", *task)
		return
	}
	t.OK("DNNWaitTaskDone", t.Task(*task), 0)
}

var regions = []*Rule{
	rule("8.a_roi_infer", "hbDNNRoiInfer computes a region of an image, in the size that the model's resizer makes of it").
		OK("same_size", func(t *T) {
			r := t.resizer()
			t.roiInfer(hbdnn.Success, r, 1, &hbdnn.Control{}, hbdnn.Roi{Left: 3, Top: 5, Right: 10, Bottom: 8})
			var want []float32
			for y := 5; y <= 8; y++ {
				for _, v := range pixels(&r.In[0])[32*y+3:][:8] {
					want = append(want, float32(v))
				}
			}
			hbdnn.Gives(t.T, r, want...)
		}).
		OK("scaled", func(t *T) {
			for _, roi := range []hbdnn.Roi{{Right: 19, Bottom: 11}, {Left: 2, Top: 2, Right: 5, Bottom: 3},
				{Left: 1, Right: 14, Bottom: 10}} {
				r := t.resizer()
				t.roiInfer(hbdnn.Success, r, 1, &hbdnn.Control{}, roi)
				var want []float32
				for _, v := range resized(pixels(&r.In[0]), 32, roi, 4, 8) {
					want = append(want, float32(v))
				}
				hbdnn.Gives(t.T, r, want...)
			}
		}).
		OK("several", func(t *T) {
			r := t.resizer()
			r.In = append(r.In, t.picture(12, 20, 32))
			r.Out[0].Mem[0] = t.Mem(2 * r.Out[0].Properties.Bytes)
			rois := []hbdnn.Roi{{Right: 19, Bottom: 11}, {Left: 2, Top: 2, Right: 5, Bottom: 3}}
			t.roiInfer(hbdnn.Success, r, 2, &hbdnn.Control{}, rois...)
			var want []float32
			for i, roi := range rois {
				for _, v := range resized(pixels(&r.In[i]), 32, roi, 4, 8) {
					want = append(want, float32(v))
				}
			}
			hbdnn.Gives(t.T, r, want...)
		}).
		OK("colors", func(t *T) {
			r := t.Prepare(image("nv12", 1, 3, 2, 4).Meta("anynpu.input.x.source", "resizer"))
			x := hbdnn.Tensor{}
			x.Properties.Kind, x.Properties.Layout = hbdnn.NV12, hbdnn.NCHW
			x.Properties.Valid, x.Properties.Aligned = hbdnn.ShapeOf(1, 3, 8, 12), hbdnn.ShapeOf(1, 3, 8, 16)
			x.Mem[0] = t.Mem(8 * 16 * 3 / 2)
			t.nv12(&x.Mem[0], 2*16+4, 16, 4, coloredLuma...)
			t.nv12(&x.Mem[0], 8*16+16+4, 16, 4, coloredPairs...)
			r.In[0] = x
			t.roiInfer(hbdnn.Success, r, 1, &hbdnn.Control{}, hbdnn.Roi{Left: 4, Top: 2, Right: 7, Bottom: 3})
			t.near(r, coloredChannels()...)
		}).
		No("room_for_two_of_three", func(t *T) {
			r := t.resizer()
			r.In = []hbdnn.Tensor{r.In[0], t.picture(12, 20, 32), t.picture(9, 16, 16)}
			r.Out[0].Mem[0] = t.Mem(3 * r.Out[0].Properties.Bytes)
			r.Out[0].Mem[0].Size--
			region := hbdnn.Roi{Right: 9, Bottom: 7}
			t.roiInfer(hbdnn.InvalidArgument, r, 3, &hbdnn.Control{}, region, region, region)
			t.Says("memSize", "3 runs")
			r.Out[0].Mem[0].Size++
			t.roiInfer(hbdnn.Success, r, 3, &hbdnn.Control{}, region, region, region)
		}).
		No("regions", func(t *T) {
			r := t.resizer()
			good := hbdnn.Roi{Right: 3, Bottom: 3}
			t.roiInfer(hbdnn.InvalidArgument, r, 0, &hbdnn.Control{}, good)
			t.roiInfer(hbdnn.InvalidArgument, r, 1, &hbdnn.Control{}, hbdnn.Roi{Left: 2, Right: 1, Bottom: 3})
			t.roiInfer(hbdnn.InvalidArgument, r, 1, &hbdnn.Control{}, hbdnn.Roi{Top: 2, Right: 1, Bottom: 1})
			t.roiInfer(hbdnn.InvalidArgument, r, 1, &hbdnn.Control{}, hbdnn.Roi{Left: 40, Right: 50, Bottom: 3})
			t.Says("rois[0]")
			t.roiInfer(hbdnn.InvalidArgument, r, 1, &hbdnn.Control{Priority: -1}, good)
			t.roiInfer(hbdnn.TooManyMembers, r, 256, &hbdnn.Control{}, good)
		}).
		No("no_resizer", func(t *T) {
			r := t.Prepare(image("gray", 1, 1, 4, 8))
			t.roiInfer(hbdnn.APIUseError, r, 1, &hbdnn.Control{}, hbdnn.Roi{Right: 3, Bottom: 3})
			t.Says("resizer")
		}),
	rule("8.b_resize", "hbDNNResize scales a region of an image, or all of it; the variable of the task is not read").
		OK("scaled", func(t *T) {
			from := t.picture(12, 20, 32)
			for _, roi := range []*hbdnn.Roi{nil, {Left: 4, Top: 1, Right: 15, Bottom: 10}} {
				whole := hbdnn.Roi{Right: 19, Bottom: 11}
				if roi != nil {
					whole = *roi
				}
				to := t.picture(6, 10, 16)
				t.resize(hbdnn.Success, to, from, roi, &hbdnn.ResizeControl{})
				want := resized(pixels(&from), 32, whole, 6, 10)
				for y := range 6 {
					row := pixels(&to)[16*y:][:10]
					t.Check(slices.Equal(row, want[10*y:][:10]), "row %d is %v, want %v", y, slices.Clone(row), want[10*y:][:10])
				}
			}
		}).
		No("values", func(t *T) {
			from, to := t.picture(12, 20, 32), t.picture(6, 10, 16)
			t.resize(hbdnn.InvalidArgument, to, from, &hbdnn.Roi{Left: 1}, &hbdnn.ResizeControl{})
			t.resize(hbdnn.InvalidArgument, to, from, &hbdnn.Roi{}, &hbdnn.ResizeControl{Priority: 256})
			t.resize(hbdnn.InvalidArgument, to, from, &hbdnn.Roi{}, &hbdnn.ResizeControl{Kind: 1})
			t.resize(hbdnn.InvalidArgument, to, from, &hbdnn.Roi{}, &hbdnn.ResizeControl{Bpu: 4})
			to.Properties.Kind = hbdnn.F32
			t.resize(hbdnn.InvalidArgument, to, from, nil, &hbdnn.ResizeControl{})
			t.Says("tensorType")
		}).
		No("images", func(t *T) {
			to := t.picture(6, 10, 16)
			for _, change := range []func(p *hbdnn.Properties){
				func(p *hbdnn.Properties) { p.Aligned.Dims[3] = 19 },
				func(p *hbdnn.Properties) { p.Valid.Dims[0] = 2 },
				func(p *hbdnn.Properties) { p.Valid.Dims[2] = 0 },
			} {
				from := t.picture(12, 20, 32)
				change(&from.Properties)
				t.resize(hbdnn.InvalidArgument, to, from, nil, &hbdnn.ResizeControl{})
			}
		}),
}
