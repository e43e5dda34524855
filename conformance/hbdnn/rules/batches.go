package rules

import (
	"fmt"
	"slices"

	"github.com/anynpu/anynpu/conformance/hbdnn"
	rknn "github.com/anynpu/anynpu/conformance/rknn"
)

// pixelKinds are the kinds of images, each with its number of channels and what its metadata say beside it.
var pixelKinds = []struct {
	name, pixel, layout string
	channels            int64
}{{"gray", "gray", "", 1}, {"rgb_nhwc", "rgb", "nhwc", 3}, {"bgr_nchw", "bgr", "nchw", 3}, {"nv12", "nv12", "", 3},
	{"yuv444_nhwc", "yuv444", "nhwc", 3}, {"yuv444_nchw", "yuv444", "nchw", 3}}

// part makes a tensor of one of a batch: tensor and memory of its own with these bytes.
func (t *T) part(of hbdnn.Tensor, data []byte) hbdnn.Tensor {
	of.Properties.Valid.Dims[0], of.Properties.Aligned.Dims[0] = 1, 1
	of.Mem = [4]hbdnn.SysMem{t.Mem(int32(len(data)))}
	copy(pixels(&of), data)
	return of
}

// imageBatches: the images of a batch in one tensor, and in a tensor each, give what each gives alone.
func imageBatches() *Rule {
	r := rule("6.ka_image_batch", "a batch of images is one tensor, or one for each image, whatever the pixels are")
	for _, kind := range pixelKinds {
		r.OK(kind.name, func(t *T) {
			model := func(n int64) *hbdnn.ONNX {
				m := image(kind.pixel, n, kind.channels, 4, 6)
				if kind.layout != "" {
					m.Meta("anynpu.input.x.layout", kind.layout)
				}
				return m
			}
			alone, whole := t.Prepare(model(1)), t.Prepare(model(3))
			parts, all := *whole, pixels(&whole.In[0])
			parts.In = nil
			elements := int(kind.channels * 4 * 6)
			var want []float32
			for k := range 3 {
				data := pixels(&alone.In[0])
				for i := range data {
					data[i] = uint8(i*37 + k*91 + i/11*5)
				}
				t.Compute(alone)
				want = append(want, hbdnn.Of[float32](&alone.Out[0].Mem[0], elements)...)
				t.Check(len(all) == 3*len(data), "3 images take %d bytes, one %d", len(all), len(data))
				copy(all[k*len(data):], data)
				parts.In = append(parts.In, t.part(whole.In[0], data))
			}
			for _, r := range []*hbdnn.Run{whole, &parts} {
				clear(hbdnn.Of[float32](&r.Out[0].Mem[0], len(want)))
				t.Compute(r)
				hbdnn.Gives(t.T, r, want...)
			}
		})
	}
	return r.No("part_of_another_size", func(t *T) {
		r := t.Prepare(image("gray", 2, 1, 4, 6))
		one := t.part(r.In[0], make([]byte, r.In[0].Mem[0].Size/2))
		r.In = []hbdnn.Tensor{one, one}
		r.In[1].Properties.Valid.Dims[2] = 3
		t.Infer(hbdnn.InvalidArgument, address(), r)
		t.Says("input[1]")
	})
}

// beside is y = x + z, where x are n gray images that a resizer makes of regions, and z is one of the same size.
func beside(n int64) *hbdnn.ONNX {
	return (&hbdnn.ONNX{}).Input("x", 1, n, 1, 4, 8).Input("z", 1, 1, 1, 4, 8).Output("y", 1, n, 1, 4, 8).
		Node("Add", "y", "x", "z").Meta("anynpu.input.x.pixel", "gray").Meta("anynpu.input.x.source", "resizer")
}

// side is a function that asks for something of an input or an output by its index.
type side struct {
	function string
	input    bool
	args     func() []any // before the handle and the index
}

var sides = []side{
	{"DNNGetInputName", true, func() []any { return []any{address()} }},
	{"DNNGetOutputName", false, func() []any { return []any{address()} }},
	{"DNNGetInputTensorProperties", true, func() []any { return []any{&hbdnn.Properties{}} }},
	{"DNNGetOutputTensorProperties", false, func() []any { return []any{&hbdnn.Properties{}} }},
	{"DNNGetInputDesc", true, func() []any { return []any{address(), length(), number()} }},
	{"DNNGetOutputDesc", false, func() []any { return []any{address(), length(), number()} }},
	{"DNNGetInputSource", true, func() []any { return []any{number()} }},
	{"DNNGetOutputOperatorType", false, func() []any { return []any{number()} }},
}

// ask calls the function for a port.
func (s side) ask(t *T, want int, model uintptr, index int) {
	t.Is(want, s.function, append(s.args(), model, index)...)
}

// sided: functions of inputs and of outputs look at the list of their own, which the numbers of both show.
func sided() *Rule {
	r := rule("3.na_side",
		"functions of inputs answer for every input, those of outputs for every output, and for no more")
	few := func(inputs, outputs int) *hbdnn.ONNX {
		m := &hbdnn.ONNX{}
		for i := range max(inputs, outputs) {
			in, out := string(rune('a'+min(i, inputs-1))), string(rune('p'+i))
			if i < inputs {
				m.Input(in, 1, 1, 4)
			}
			if i < outputs {
				m.Output(out, 1, 1, 4).Node("Relu", out, in)
			} else {
				m.Node("Relu", out, in)
			}
		}
		return m
	}
	for _, n := range [][2]int{{3, 1}, {1, 3}} {
		name := fmt.Sprintf("%d_inputs_%d_outputs", n[0], n[1])
		r.OK(name, func(t *T) {
			model := t.Model(few(n[0], n[1]))
			for _, s := range sides {
				for i := range map[bool]int{true: n[0], false: n[1]}[s.input] {
					s.ask(t, hbdnn.Success, model, i)
				}
			}
		})
		r.No(name+"_beyond", func(t *T) {
			model := t.Model(few(n[0], n[1]))
			for _, s := range sides {
				s.ask(t, hbdnn.InvalidArgument, model, map[bool]int{true: n[0], false: n[1]}[s.input])
			}
		})
	}
	return r
}

// colors are the kinds of color images and their layouts.
var colors = []struct {
	name         string
	kind, layout int32
}{{"rgb_nhwc", hbdnn.RGB, hbdnn.NHWC}, {"bgr_nhwc", hbdnn.BGR, hbdnn.NHWC}, {"rgb_nchw", hbdnn.RGB, hbdnn.NCHW},
	{"yuv444_nhwc", hbdnn.YUV444, hbdnn.NHWC},
	{"yuv444_nchw", hbdnn.YUV444, hbdnn.NCHW}}

// color is an image of three components of h x w pixels.
func (t *T) color(kind, layout, h, w int32) hbdnn.Tensor {
	p := t.picture(3*h, w, w) // the memory, and bytes that differ
	p.Properties.Kind, p.Properties.Layout = kind, layout
	p.Properties.Valid = hbdnn.ShapeOf(1, 3, h, w)
	if layout == hbdnn.NHWC {
		p.Properties.Valid = hbdnn.ShapeOf(1, h, w, 3)
	}
	p.Properties.Aligned = p.Properties.Valid
	return p
}

// plane are the bytes of one component of such an image.
func plane(p *hbdnn.Tensor, c, h, w int) []uint8 {
	b := slices.Clone(pixels(p))
	if p.Properties.Layout == hbdnn.NCHW {
		return b[c*h*w:][:h*w]
	}
	out := make([]uint8, h*w)
	for i := range out {
		out[i] = b[3*i+c]
	}
	return out
}

// colorRegions: each component of a color image is scaled as a gray image is.
func colorRegions() *Rule {
	r := rule("8.ba_resize_colors", "hbDNNResize scales each component of a color image, side by side or in planes")
	for _, kind := range colors {
		r.OK(kind.name, func(t *T) {
			from := t.color(kind.kind, kind.layout, 12, 20)
			for _, roi := range []*hbdnn.Roi{nil, {Left: 4, Top: 1, Right: 15, Bottom: 10}} {
				whole := hbdnn.Roi{Right: 19, Bottom: 11}
				if roi != nil {
					whole = *roi
				}
				to := t.color(kind.kind, kind.layout, 6, 10)
				t.resize(hbdnn.Success, to, from, roi, &hbdnn.ResizeControl{})
				for c := range 3 {
					want := resized(plane(&from, c, 12, 20), 20, whole, 6, 10)
					t.Check(slices.Equal(plane(&to, c, 6, 10), want), "component %d is %v, want %v", c, plane(&to, c, 6, 10),
						want)
				}
			}
		})
	}
	return r.No("other_colors", func(t *T) {
		from, to := t.color(hbdnn.RGB, hbdnn.NHWC, 12, 20), t.color(hbdnn.BGR, hbdnn.NHWC, 6, 10)
		t.resize(hbdnn.InvalidArgument, to, from, nil, &hbdnn.ResizeControl{})
	})
}

// picking is y = w[x], which fails for an x that w does not have.
func picking() *hbdnn.ONNX {
	return (&hbdnn.ONNX{}).Input("x", rknn.ONNXInt32, 1, 1).Output("y", rknn.ONNXFloat, 1, 1).
		Constant("w", rknn.ONNXFloat, rknn.RealBytes(5, 6, 7), 3).Node("Gather", "y", "w", "x")
}

// picks is a task of one member for each index.
func (t *T) picks(indices ...int32) uintptr {
	task := address()
	for i, v := range indices {
		r := t.Prepare(picking())
		hbdnn.Fill(r, v)
		if i < len(indices)-1 {
			r.Control.More = 1
		}
		t.Infer(0, task, r)
	}
	return *task
}

// fails demands that a task has failed.
func (t *T) fails(task uintptr) {
	code := t.Code("DNNWaitTaskDone", t.Task(task), 0)
	t.Check(code != hbdnn.Success, "the task has succeeded")
	t.Judged(false)
}

// padded sets the target whose codes have gaps.
const padded = "ANYNPU_HBDNN_TARGET=x3"

var batches = []*Rule{
	sided(),
	imageBatches(),
	colorRegions(),
	rule("4.ta_failing_member", "a task fails when a member does, whichever it is").
		OK("none", func(t *T) { t.OK("DNNWaitTaskDone", t.Task(t.picks(0, 1, 2)), 0) }).
		No("first", func(t *T) { t.fails(t.picks(9, 1, 2)) }).
		No("middle", func(t *T) { t.fails(t.picks(0, 9, 2)) }).
		No("last", func(t *T) { t.fails(t.picks(0, 1, 9)) }),
	rule("7.ca_numbers_without_sizes", "a number without sizes whose codes int8_t does not hold is a number").
		OK("scalar", func(t *T) {
			r := t.Prepare(codesOf(2, 200))
			hbdnn.Fill[float32](r, 27.5)
			t.Compute(r)
			hbdnn.Gives[float32](t.T, r, 27.5)
		}).
		No("size", func(t *T) {
			r := t.Prepare(codesOf(2, 200))
			r.In[0].Mem[0].Size = 3
			t.Infer(hbdnn.InvalidArgument, address(), r)
		}),
	rule("4.ua_memory_of_an_input", "an output may lie in the memory of an input, whatever else is computed of that").
		OK("either_output", func(t *T) {
			for k := range 2 {
				m := (&hbdnn.ONNX{}).Input("x", 1, 1, 4).Output("y", 1, 1, 4).Output("w", 1, 1, 4).Node("Relu", "y", "x").
					Node("Neg", "w", "x")
				r := t.Prepare(m)
				other := hbdnn.Tensor{Properties: *t.Out(r.Model, 1)}
				other.Mem[0] = t.Mem(16)
				r.Out = append(r.Out, other)
				r.Out[k].Mem[0] = r.In[0].Mem[0]
				hbdnn.Fill[float32](r, -1, 2, -3, 4)
				t.Compute(r)
				y, w := hbdnn.Of[float32](&r.Out[0].Mem[0], 4), hbdnn.Of[float32](&r.Out[1].Mem[0], 4)
				t.Check(slices.Equal(y, []float32{0, 2, 0, 4}) && slices.Equal(w, []float32{1, -2, 3, -4}),
					"output %d over the input: %v and %v",
					k, slices.Clone(y), slices.Clone(w))
			}
		}).
		No("too_small", func(t *T) {
			r := t.Prepare(hbdnn.Relu(1, 4))
			r.Out[0].Mem[0] = r.In[0].Mem[0]
			r.Out[0].Mem[0].Size = 8
			t.Infer(hbdnn.InvalidArgument, address(), r)
		}),
	rule("11.fa_estimate_of_large_models", "an estimate is no less than what any machine takes for the arithmetic").
		OK("a_million_elements", func(t *T) {
			r, n := t.Prepare(hbdnn.Relu(1, 1<<20)), number()
			for range 2 {
				t.Compute(r)
			}
			t.OK("DNNGetEstimateLatency", n, r.Model)
			t.Check(*n >= 10, "%d microseconds for a million elements", *n)
		}).
		No("null", func(t *T) { t.Bad("DNNGetEstimateLatency", nil, t.Model(hbdnn.Relu(1, 4))) }),
	rule("11.ra_callback_of_a_task_released_in_its_turn",
		"the function of a task that is released while it runs is not called").
		OK("done", func(t *T) {
			task := t.busy()
			t.OK("DNNSetTaskDoneCb", task, noting(), nil)
			t.called()
		}).
		No("running", func(t *T) {
			t.whileBusy(func() string { return "" }) // or it is skipped
			task := t.busy()
			early := t.done(task)
			t.OK("DNNSetTaskDoneCb", task, noting(), nil)
			late := t.done(task)
			t.OK("DNNReleaseTask", task)
			if early || late {
				t.Skip("a task of 255 members is done too early")
			}
			t.Compute(t.Prepare(hbdnn.Relu(1, 2))) // whose turn comes when the other has ended
			t.uncalled()
			t.Is(hbdnn.InvalidTaskHandle, "DNNWaitTaskDone", task, 0)
		}),
	rule("6.ea_unpadded_codes",
		"tensors of codes have the gaps that alignedShape shows, which results fill with zeros; where it is validShape they "+
			"have none").
		OK("either", func(t *T) {
			values := []int8{-1, 2, -3, 4, -5, 6, 7, -8, 9, -10, 11, -12}
			for _, dense := range [][2]bool{{false, false}, {true, false}, {false, true}, {true, true}} {
				r := t.Prepare(codesOf(3, 0, 1, 2, 2, 3))
				t.Check(!slices.Equal(r.In[0].Properties.Aligned.Sizes(), r.In[0].Properties.Valid.Sizes()), "%s: no gaps",
					padded)
				step := [2]int{}
				for k, p := range []*hbdnn.Properties{&r.In[0].Properties, &r.Out[0].Properties} {
					if dense[k] {
						p.Aligned = p.Valid
					}
					step[k] = int(p.Aligned.Dims[3])
				}
				in, out := hbdnn.Of[int8](&r.In[0].Mem[0], 4*step[0]), hbdnn.Of[int8](&r.Out[0].Mem[0], 4*step[1])
				for row := range 4 {
					copy(in[row*step[0]:], values[3*row:][:3])
				}
				for k := range out {
					out[k] = 85
				}
				t.Compute(r)
				for row := range 4 {
					gap := out[row*step[1]+3 : (row+1)*step[1]]
					t.Check(!slices.ContainsFunc(gap, func(v int8) bool { return v != 0 }), "dense %v: row %d has %v in its gap",
						dense, row, gap)
					for k, v := range values[3*row:][:3] {
						t.Check(out[row*step[1]+k] == max(v, 0), "dense %v: row %d is %v", dense, row, out[row*step[1]:][:3])
					}
				}
			}
		}).With(padded).
		OK("lengths_of_rows", func(t *T) {
			for n, row := range map[int64]int32{5: 16, 16: 16, 17: 32, 33: 64, 65: 128, 128: 128, 129: 256, 257: 512} {
				p := t.Out(t.Model(codesOf(3, 0, 1, 2, 2, n)), 0)
				t.Check(p.Aligned.Dims[3] == row && p.Bytes == 4*row, "rows of %d codes take %d bytes of %d, want %d", n,
					p.Aligned.Dims[3], p.Bytes, row)
			}
		}).With(padded).
		No("neither", func(t *T) {
			r := t.Prepare(codesOf(3, 0, 1, 2, 2, 3))
			r.In[0].Properties.Aligned.Dims[3] = 5
			t.Infer(hbdnn.InvalidArgument, address(), r)
			t.Says("alignedShape")
		}).With(padded),
	rule("8.aa_roi_batch",
		"regions fill the model's batch; an input beside them that has one for all is handed over once").
		OK("images", func(t *T) {
			r := t.Prepare(image("gray", 2, 1, 4, 8).Meta("anynpu.input.x.source", "resizer"))
			r.In = []hbdnn.Tensor{t.picture(12, 20, 32), t.picture(9, 16, 16)}
			rois := []hbdnn.Roi{{Right: 19, Bottom: 11}, {Left: 2, Top: 2, Right: 5, Bottom: 3}}
			t.roiInfer(hbdnn.Success, r, 2, &hbdnn.Control{}, rois...)
			var want []float32
			for i, pitch := range []int{32, 16} {
				for _, v := range resized(pixels(&r.In[i]), pitch, rois[i], 4, 8) {
					want = append(want, float32(v))
				}
			}
			hbdnn.Gives(t.T, r, want...)
		}).
		OK("one_beside_them", func(t *T) {
			model := t.Model(beside(2))
			r := &hbdnn.Run{Model: model, Out: make([]hbdnn.Tensor, 1)}
			r.Out[0].Properties = *t.Out(model, 0)
			r.Out[0].Mem[0] = t.Mem(r.Out[0].Properties.Bytes)
			z := hbdnn.Tensor{Properties: *t.In(model, 1)}
			z.Mem[0] = t.Mem(z.Properties.Bytes)
			added := hbdnn.Of[float32](&z.Mem[0], 32)
			for i := range added {
				added[i] = float32(1000 * i)
			}
			x := t.picture(12, 20, 32)
			r.In = []hbdnn.Tensor{x, z, x, z}
			rois := []hbdnn.Roi{{Right: 19, Bottom: 11}, {Left: 2, Top: 2, Right: 5, Bottom: 3}}
			t.roiInfer(hbdnn.Success, r, 2, &hbdnn.Control{}, rois...)
			var want []float32
			for _, roi := range rois {
				for i, v := range resized(pixels(&x), 32, roi, 4, 8) {
					want = append(want, float32(v)+added[i])
				}
			}
			hbdnn.Gives(t.T, r, want...)
		}).
		No("second_region", func(t *T) {
			r := t.Prepare(image("gray", 2, 1, 4, 8).Meta("anynpu.input.x.source", "resizer"))
			r.In = []hbdnn.Tensor{t.picture(12, 20, 32), t.picture(12, 20, 32)}
			t.roiInfer(hbdnn.InvalidArgument, r, 2, &hbdnn.Control{}, hbdnn.Roi{Right: 3, Bottom: 3}, hbdnn.Roi{Left: 30,
				Right: 40})
			t.Says("rois[1]")
		}),
}
