package rules

import (
	"fmt"
	"slices"

	"github.com/anynpu/anynpu/conformance/hbdnn"
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
	r := rule("3.na_side", "functions of inputs answer for every input, those of outputs for every output, and for no more")
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

// padded sets the target whose codes have gaps.
const padded = "ANYNPU_HBDNN_TARGET=x3"

var batches = []*Rule{
	sided(),
	imageBatches(),
	rule("6.ea_unpadded_codes", "tensors of codes have the gaps that alignedShape shows; where it is validShape they have none").
		OK("either", func(t *T) {
			values := []int8{-1, 2, -3, 4, -5, 6, 7, -8, 9, -10, 11, -12}
			for _, dense := range [][2]bool{{false, false}, {true, false}, {false, true}, {true, true}} {
				r := t.Prepare(codesOf(3, 0, 1, 2, 2, 3))
				t.Check(!slices.Equal(r.In[0].Properties.Aligned.Sizes(), r.In[0].Properties.Valid.Sizes()), "%s: no gaps", padded)
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
				t.Compute(r)
				for row := range 4 {
					for k, v := range values[3*row:][:3] {
						t.Check(out[row*step[1]+k] == max(v, 0), "dense %v: row %d is %v", dense, row, out[row*step[1]:][:3])
					}
				}
			}
		}).With(padded).
		No("neither", func(t *T) {
			r := t.Prepare(codesOf(3, 0, 1, 2, 2, 3))
			r.In[0].Properties.Aligned.Dims[3] = 5
			t.Infer(hbdnn.InvalidArgument, address(), r)
			t.Says("alignedShape")
		}).With(padded),
	rule("8.aa_roi_batch", "regions fill the model's batch; an input beside them that has one for all is handed over once").
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
			t.roiInfer(hbdnn.InvalidArgument, r, 2, &hbdnn.Control{}, hbdnn.Roi{Right: 3, Bottom: 3}, hbdnn.Roi{Left: 30, Right: 40})
			t.Says("rois[1]")
		}),
}
