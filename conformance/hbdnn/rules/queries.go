package rules

import (
	"fmt"
	"slices"

	"github.com/anynpu/anynpu/conformance/hbdnn"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// two is y = x + z and w = x.
func two() *hbdnn.ONNX {
	return (&hbdnn.ONNX{}).Input("x", 1, 1, 4).Input("z", 1, 1, 4).Output("y", 1, 1, 4).Output("w", 1, 1, 4).
		Node("Add", "y", "x", "z").Node("Relu", "w", "x")
}

var queries = []*Rule{
	rule("3.k_counts", "inputs and outputs are counted").
		OK("two", func(t *T) {
			in, out, model := number(), number(), t.Model(two())
			t.OK("DNNGetInputCount", in, model)
			t.OK("DNNGetOutputCount", out, model)
			t.Check(*in == 2 && *out == 2, "%d inputs, %d outputs", *in, *out)
		}).
		No("beyond", func(t *T) { t.Bad("DNNGetInputTensorProperties", &hbdnn.Properties{}, t.Model(two()), 2) }),
	rule("3.l_names", "names are those of the model, in its order").
		OK("inputs", func(t *T) {
			model := t.Model(two())
			for i, want := range []string{"x", "z"} {
				name := address()
				t.OK("DNNGetInputName", name, model, i)
				t.Check(cmem.Text(*name) == want, "%q", cmem.Text(*name))
			}
		}).
		OK("outputs", func(t *T) {
			model := t.Model(two())
			for i, want := range []string{"y", "w"} {
				name := address()
				t.OK("DNNGetOutputName", name, model, i)
				t.Check(cmem.Text(*name) == want, "%q", cmem.Text(*name))
			}
		}).
		No("beyond", func(t *T) { t.Bad("DNNGetOutputName", address(), t.Model(two()), 2) }),
	rule("3.m_names_live", "names stay where they are as long as the pack").
		OK("same", func(t *T) {
			a, b, model := address(), address(), t.Model(two())
			t.OK("DNNGetInputName", a, model, 0)
			t.OK("DNNGetInputName", b, model, 0)
			t.Check(*a == *b && cmem.Text(*a) == "x", "%#x and %#x", *a, *b)
		}).
		No("after", func(t *T) {
			pack := t.Pack(two())
			model := t.Named(pack, "model")
			t.OK("DNNRelease", pack)
			t.Is(hbdnn.InvalidHandle, "DNNGetInputName", address(), model, 0)
		}),
	rule("3.n_descriptions", "a description is a text with its length").
		OK("ports", func(t *T) {
			desc, size, kind, model := address(), length(), number(), t.Model(two())
			for _, f := range []string{"DNNGetInputDesc", "DNNGetOutputDesc"} {
				t.OK(f, desc, size, kind, model, 1)
				t.Check(*kind == 1 && *size > 0 && len(cmem.Text(*desc)) == int(*size), "kind %d, %d bytes", *kind, *size)
			}
		}).
		No("no_port", func(t *T) {
			desc := &[]uintptr{1}[0]
			t.Bad("DNNGetInputDesc", desc, length(), number(), t.Model(two()), 2)
			t.Check(*desc == 0, "the text is %#x, want NULL", *desc)
		}),
	rule("3.o_older_descriptions", "the three arguments of 1.9 are told from the five of later versions").
		OK("both", func(t *T) {
			newer, older, model := address(), address(), t.Model(two())
			t.OK("DNNGetInputDesc", newer, length(), number(), model, 1)
			t.OK("DNNGetInputDesc", older, model, 1, 0, 0)
			t.Check(*newer == *older && *older != 0, "%#x and %#x", *newer, *older)
		}).
		No("older_index", func(t *T) { t.Bad("DNNGetOutputDesc", address(), t.Model(two()), 2, 0, 0) }),
	rule("3.p_model_description", "a model has a description and a tag").
		OK("texts", func(t *T) {
			desc, tag, size := address(), address(), length()
			model := t.Model(two().Meta("anynpu.custom_string", "words").Meta("anynpu.target", "x5"))
			t.OK("DNNGetModelDesc", desc, size, number(), model)
			t.OK("DNNGetModelTag", tag, model)
			t.Check(cmem.Text(*desc) == "words" && *size == 5 && cmem.Text(*tag) == "x5", "%q, %d, %q", cmem.Text(*desc), *size,
				cmem.Text(*tag))
		}).
		No("null", func(t *T) { t.Bad("DNNGetModelDesc", address(), nil, number(), t.Model(two())) }),
	rule("3.q_source", "inputs are handed over in memory").
		OK("ddr", func(t *T) {
			n := &[]int32{9}[0]
			t.OK("DNNGetInputSource", n, t.Model(two()), 1)
			t.Check(*n == 0, "source %d", *n)
		}).
		No("none", func(t *T) { t.Bad("DNNGetInputSource", number(), t.Model(two()), 2) }),
	rule("3.r_operator", "the operator that makes an output is told where the API has a word for it").
		OK("others", func(t *T) {
			n := &[]int32{9}[0]
			t.OK("DNNGetOutputOperatorType", n, t.Model(two()), 0)
			t.Check(*n == 0, "type %d", *n)
		}).
		OK("conv", func(t *T) {
			m := (&hbdnn.ONNX{}).Input("x", 1, 1, 1, 2, 2).Output("y", 1, 1, 1, 2, 2).
				Constant("k", 1, []byte{0, 0, 128, 63}, 1, 1, 1, 1).Node("Conv", "y", "x", "k")
			n := number()
			t.OK("DNNGetOutputOperatorType", n, t.Model(m), 0)
			t.Check(*n == 1, "type %d", *n)
		}).
		No("none", func(t *T) { t.Bad("DNNGetOutputOperatorType", number(), t.Model(two()), 2) }),
	rule("11.f_estimates", "an estimate is 0 before the first run and is not after it").
		OK("latency", func(t *T) {
			n := &[]int32{-1}[0]
			r := t.Prepare(hbdnn.Relu(1, 4))
			t.OK("DNNGetEstimateLatency", n, r.Model)
			t.Check(*n == 0, "%d before a run", *n)
			t.Compute(r)
			t.OK("DNNGetEstimateLatency", n, r.Model)
			t.Check(*n > 0, "%d after a run", *n)
		}).
		No("null", func(t *T) { t.Bad("DNNGetEstimateLatency", nil, t.Model(hbdnn.Relu(1, 4))) }),
	rule("3.s_start_estimate", "the time until a task would begin is estimated from control values").
		OK("idle", func(t *T) {
			n := &[]int32{-1}[0]
			t.OK("DNNGetTaskEstimateStartTime", n, &hbdnn.Control{})
			t.Check(*n == 0, "%d with nothing to wait for", *n)
		}).
		OK("waiting", func(t *T) {
			r := t.Prepare(hbdnn.Relu(1, 1<<16))
			t.Compute(r)
			r.Control.Priority, r.Control.Custom = 5, 7
			n := number()
			t.whileBusy(func() string {
				t.Start(r)
				for _, c := range []hbdnn.Control{{Priority: 4}, {Priority: 5, Custom: 8}, {Priority: 4, Custom: 6}} {
					if t.OK("DNNGetTaskEstimateStartTime", n, &c); *n <= 0 {
						return fmt.Sprintf("the task that waits does not count for %+v behind it", c)
					}
				}
				for _, c := range []hbdnn.Control{{Priority: 6}, {Priority: 5, Custom: 6}, {Priority: 6, Custom: 8}} {
					if t.OK("DNNGetTaskEstimateStartTime", n, &c); *n != 0 {
						return fmt.Sprintf("the task that waits counts for %+v before it", c)
					}
				}
				return ""
			})
			t.Judged(true)
		}).
		No("priority", func(t *T) { t.Bad("DNNGetTaskEstimateStartTime", number(), &hbdnn.Control{Priority: 256}) }).
		No("null", func(t *T) { t.Bad("DNNGetTaskEstimateStartTime", number(), nil) }),
	rule("3.t_layout_names", "layouts have names").
		OK("names", func(t *T) {
			for layout, want := range map[int]string{0: "NHWC", 1: "NHCW_NATIVE", 2: "NCHW", 255: "NONE"} {
				name := address()
				t.OK("DNNGetLayoutName", name, layout)
				t.Check(cmem.Text(*name) == want, "%d is %q", layout, cmem.Text(*name))
			}
		}).
		No("none", func(t *T) {
			for _, layout := range []int32{3, -1, 254} {
				name := &[]uintptr{1}[0]
				t.Bad("DNNGetLayoutName", name, layout)
				t.Check(*name == 0, "the name is %#x, want NULL", *name)
			}
			t.Bad("DNNGetLayoutName", nil, 0)
		}),
}

// shows demands properties of a port, which are in p.
func (t *T) shows(p *hbdnn.Properties, kind, layout, bytes int32, valid, aligned, stride []int32) {
	t.Check(p.Kind == kind && p.Layout == layout && p.Bytes == bytes, "type %d, layout %d, %d bytes; want %d, %d, %d",
		p.Kind, p.Layout, p.Bytes, kind, layout, bytes)
	t.Check(slices.Equal(p.Valid.Sizes(), valid), "validShape %v, want %v", p.Valid.Sizes(), valid)
	t.Check(slices.Equal(p.Aligned.Sizes(), aligned), "alignedShape %v, want %v", p.Aligned.Sizes(), aligned)
	want := make([]int32, 8)
	if t.HasStride() {
		copy(want, stride)
	}
	t.Check(slices.Equal(p.Stride[:], want), "stride %v, want %v", p.Stride, want)
}

var tensors = []*Rule{
	rule("6.a_feature_map", "a tensor of four dimensions is NCHW without gaps").
		OK("both", func(t *T) {
			model := t.Model(hbdnn.Relu(2, 3, 4, 5))
			for _, p := range []*hbdnn.Properties{t.In(model, 0), t.Out(model, 0)} {
				t.shows(p, hbdnn.F32, hbdnn.NCHW, 480, []int32{2, 3, 4, 5}, []int32{2, 3, 4, 5}, []int32{240, 80, 20, 4})
			}
		}).
		No("beyond", func(t *T) { t.Bad("DNNGetOutputTensorProperties", &hbdnn.Properties{}, t.Model(hbdnn.Relu(1, 2)), 1) }),
	rule("6.b_four_sizes", "alignedShape has at least four sizes").
		OK("two", func(t *T) {
			t.shows(t.In(t.Model(hbdnn.Relu(1, 10)), 0), hbdnn.F32, hbdnn.None, 40, []int32{1, 10}, []int32{1, 10, 1, 1},
				[]int32{40, 4})
		}).
		OK("five", func(t *T) {
			p := t.In(t.Model(hbdnn.Relu(1, 2, 3, 4, 5)), 0)
			t.shows(p, hbdnn.F32, hbdnn.None, 480, []int32{1, 2, 3, 4, 5}, []int32{1, 2, 3, 4, 5}, []int32{480, 240, 80, 20, 4})
		}).
		No("nine", func(t *T) {
			b := hbdnn.Relu(1, 1, 1, 1, 1, 1, 1, 1, 2).Bytes()
			t.Is(hbdnn.InvalidModel, "DNNInitializeFromDDR", address(), []uintptr{cmem.First(b)}, []int32{int32(len(b))}, 1)
		}),
	rule("6.c_types", "element types are the model's").
		OK("types", func(t *T) {
			for elem, want := range map[int64][2]int32{1: {hbdnn.F32, 4}, 2: {hbdnn.U8, 1}, 3: {hbdnn.S8, 1}, 5: {hbdnn.S16, 2},
				6: {hbdnn.S32, 4}, 7: {hbdnn.S64, 8}, 10: {hbdnn.F16, 2}, 11: {hbdnn.F64, 8}} {
				m := (&hbdnn.ONNX{}).Input("x", elem, 1, 4).Output("y", elem, 1, 4).Node("Identity", "y", "x")
				p := t.In(t.Model(m), 0)
				t.Check(p.Kind == want[0] && p.Bytes == 4*want[1], "ONNX type %d is %d with %d bytes", elem, p.Kind, p.Bytes)
			}
		}).
		No("strings", func(t *T) {
			b := (&hbdnn.ONNX{}).Input("x", 8, 1, 4).Output("y", 8, 1, 4).Node("Identity", "y", "x").Bytes()
			t.Is(hbdnn.InvalidModel, "DNNInitializeFromDDR", address(), []uintptr{cmem.First(b)}, []int32{int32(len(b))}, 1)
		}),
	rule("6.d_nhwc", "metadata have an input handed over in NHWC").
		OK("nhwc", func(t *T) {
			r := t.Prepare(hbdnn.Relu(1, 2, 1, 3).Meta("anynpu.input.x.layout", "nhwc"))
			t.shows(&r.In[0].Properties, hbdnn.F32, hbdnn.NHWC, 24, []int32{1, 1, 3, 2}, []int32{1, 1, 3, 2},
				[]int32{24, 24, 8, 4})
			hbdnn.Fill[float32](r, 1, 10, 2, 20, 3, 30)
			t.Compute(r)
			hbdnn.Gives[float32](t.T, r, 1, 2, 3, 10, 20, 30)
		}).
		No("other_layout", func(t *T) {
			r := t.Prepare(hbdnn.Relu(1, 2, 1, 3).Meta("anynpu.input.x.layout", "nhwc"))
			r.In[0].Properties.Layout = hbdnn.NCHW
			t.Infer(hbdnn.InvalidArgument, address(), r)
			t.Says("tensorLayout", "NHWC")
		}),
	rule("6.da_channels_last", "an input of as many numbers per channel as dimension 3 has, and dimension 1 has not, is "+
		"in NHWC, as the model has it; metadata may say NCHW").
		OK("nhwc", func(t *T) {
			r := t.Prepare(hbdnn.Relu(1, 1, 3, 2).Meta("anynpu.input.x.mean", []float32{10, 20}))
			t.shows(&r.In[0].Properties, hbdnn.F32, hbdnn.NHWC, 24, []int32{1, 1, 3, 2}, []int32{1, 1, 3, 2},
				[]int32{24, 24, 8, 4})
			hbdnn.Fill[float32](r, 1, -10, 2, -20, 3, 30)
			t.Compute(r)
			hbdnn.Gives[float32](t.T, r, 1, 0, 2, 0, 3, 30)
		}).
		OK("nchw", func(t *T) {
			r := t.Prepare(hbdnn.Relu(1, 1, 3, 2).Meta("anynpu.input.x.mean", []float32{10, 20}).
				Meta("anynpu.input.x.layout", "nchw"))
			t.shows(&r.In[0].Properties, hbdnn.F32, hbdnn.NCHW, 24, []int32{1, 2, 1, 3}, []int32{1, 2, 1, 3},
				[]int32{24, 12, 12, 4})
			hbdnn.Fill[float32](r, 1, 2, 3, -10, -20, 30)
			t.Compute(r)
			hbdnn.Gives[float32](t.T, r, 1, 0, 2, 0, 3, 30)
		}).
		No("neither", func(t *T) {
			t.refused(hbdnn.Relu(1, 2, 1, 3).Meta("anynpu.input.x.mean", []float32{1, 2, 3, 4}), "has 4 numbers",
				"dimension 1 or 3")
		}),
	rule("6.db_open_outputs", "an output of open size is usable with a bound, anynpu.output.NAME.max_shape: properties "+
		"have "+
		"it, elements lie at their places in it, and the rest is zeros").
		OK("zeros", func(t *T) {
			m := (&hbdnn.ONNX{}).Input("x", 1, 2, 3).Output("y", 7, 2, -1).Node("NonZero", "y", "x").
				Meta("anynpu.output.y.max_shape", []int{2, 6})
			r := t.Prepare(m)
			t.shows(&r.Out[0].Properties, hbdnn.S64, hbdnn.None, 96, []int32{2, 6}, []int32{2, 6, 1, 1}, []int32{48, 8})
			hbdnn.Fill[float32](r, 0, 5, 0, 7, 0, 8)
			t.Compute(r)
			hbdnn.Gives[int64](t.T, r, 0, 1, 1, 0, 0, 0, 1, 0, 2, 0, 0, 0)
			hbdnn.Fill[float32](r, 0, 0, 0, 7, 0, 0)
			t.Compute(r)
			hbdnn.Gives[int64](t.T, r, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
		}).
		No("no_bound", func(t *T) {
			t.refused((&hbdnn.ONNX{}).Input("x", 1, 2, 3).Output("y", 7, 2, -1).Node("NonZero", "y", "x"),
				"anynpu.output.y.max_shape")
		}),
	rule("6.e_unpadded", "alignedShape may be validShape").
		OK("valid", func(t *T) {
			r := t.Prepare(hbdnn.Relu(1, 4))
			r.In[0].Properties.Aligned = r.In[0].Properties.Valid
			hbdnn.Fill[float32](r, -1, 2, -3, 4)
			t.Compute(r)
			hbdnn.Gives[float32](t.T, r, 0, 2, 0, 4)
		}).
		No("other", func(t *T) {
			r := t.Prepare(hbdnn.Relu(1, 4))
			r.In[0].Properties.Aligned.Dims[1] = 5
			t.Infer(hbdnn.InvalidArgument, address(), r)
			t.Says("input[0].properties.alignedShape")
		}).
		No("no_shape", func(t *T) {
			r := t.Prepare(hbdnn.Relu(1, 4))
			for _, rank := range []int32{-1, 9, 1 << 30} {
				r.In[0].Properties.Aligned.Rank = rank
				t.Infer(hbdnn.InvalidArgument, address(), r)
			}
		}),
	rule("6.f_type_stays", "tensorType must be that of the port").
		OK("same", func(t *T) { t.Compute(t.Prepare(hbdnn.Relu(1, 4))) }).
		No("input", func(t *T) {
			r := t.Prepare(hbdnn.Relu(1, 4))
			for _, kind := range []int32{hbdnn.S8, hbdnn.Y, -1, 99} {
				r.In[0].Properties.Kind = kind
				t.Infer(hbdnn.InvalidArgument, address(), r)
			}
			t.Says("input[0].properties.tensorType", "F32")
		}).
		No("output", func(t *T) {
			r := t.Prepare(hbdnn.Relu(1, 4))
			r.Out[0].Properties.Kind = hbdnn.F16
			t.Infer(hbdnn.InvalidArgument, address(), r)
			t.Says("(*output)[0].properties.tensorType")
		}),
	rule("6.g_shape_stays", "validShape must be that of the port").
		OK("same", func(t *T) { t.Compute(t.Prepare(hbdnn.Relu(1, 4))) }).
		No("input", func(t *T) {
			r := t.Prepare(hbdnn.Relu(1, 4))
			r.In[0].Properties.Valid.Dims[1] = 3
			t.Infer(hbdnn.InvalidArgument, address(), r)
			t.Says("input[0].properties.validShape")
		}).
		No("rank", func(t *T) {
			r := t.Prepare(hbdnn.Relu(1, 4))
			for _, rank := range []int32{0, 1, 3, 9, -1} {
				r.In[0].Properties.Valid.Rank = rank
				t.Infer(hbdnn.InvalidArgument, address(), r)
			}
			scalar := t.Prepare(hbdnn.Relu())
			t.Compute(scalar)
			for _, rank := range []int32{1, 9, -1} {
				scalar.In[0].Properties.Valid.Rank = rank
				t.Infer(hbdnn.InvalidArgument, address(), scalar)
			}
		}).
		No("other_model", func(t *T) {
			r, other := t.Prepare(hbdnn.Relu(1, 4)), t.Prepare(hbdnn.Relu(1, 5))
			r.Out[0].Properties = other.Out[0].Properties
			t.Infer(hbdnn.InvalidArgument, address(), r)
		}),
	rule("6.h_size", "memSize must be alignedByteSize at least").
		OK("more", func(t *T) {
			r := t.Prepare(hbdnn.Relu(1, 4))
			r.In[0].Mem[0], r.In[0].Mem[0].Size = t.Mem(64), 64
			t.Compute(r)
		}).
		No("less", func(t *T) {
			r := t.Prepare(hbdnn.Relu(1, 4))
			r.In[0].Mem[0].Size = 15
			t.Infer(hbdnn.InvalidArgument, address(), r)
			t.Says("input[0].sysMem[0].memSize is 15", "16 bytes", `"x"`)
		}).
		No("output", func(t *T) {
			r := t.Prepare(hbdnn.Relu(1, 4))
			r.Out[0].Mem[0].Size = 0
			t.Infer(hbdnn.InvalidArgument, address(), r)
			t.Says("(*output)[0].sysMem[0].memSize is 0", `"y"`)
		}).
		No("null", func(t *T) {
			r := t.Prepare(hbdnn.Relu(1, 4))
			r.In[0].Mem[0].Virt = 0
			t.Infer(hbdnn.InvalidArgument, address(), r)
			t.Says("virAddr is NULL")
		}),
	rule("6.i_views", "memory may be a part of an allocation, and must not go past its end").
		OK("part", func(t *T) {
			r := t.Prepare(hbdnn.Relu(1, 4))
			m := t.Mem(64)
			copy(hbdnn.Of[float32](&m, 16), []float32{9, 9, 9, 9, 1, -1, 2, -2})
			m.Virt, m.Phys = m.Virt+16, m.Phys+16
			r.In[0].Mem[0] = m // whose size runs past the end
			t.Compute(r)
			hbdnn.Gives[float32](t.T, r, 1, 0, 2, 0)
		}).
		No("past", func(t *T) {
			r := t.Prepare(hbdnn.Relu(1, 4))
			hbdnn.Fill[float32](r, 1, 2, 3, 4)
			r.In[0].Mem[0].Virt += 4
			t.Infer(hbdnn.InvalidArgument, address(), r)
			t.Says("12 bytes")
		}),
	rule("6.j_other_slots", "only the first memory of a tensor is looked at").
		OK("garbage", func(t *T) {
			r := t.Prepare(hbdnn.Relu(1, 4))
			for i := 1; i < 4; i++ {
				r.In[0].Mem[i] = hbdnn.SysMem{Phys: 1, Virt: 1, Size: 1 << 31}
				r.Out[0].Mem[i] = hbdnn.SysMem{Phys: 1, Virt: 1, Size: 1 << 31}
			}
			t.Compute(r)
		}).
		No("first", func(t *T) {
			r := t.Prepare(hbdnn.Relu(1, 4))
			r.In[0].Mem[1], r.In[0].Mem[0] = r.In[0].Mem[0], hbdnn.SysMem{}
			t.Infer(hbdnn.InvalidArgument, address(), r)
		}),
	rule("6.k_batch", "a batch is one tensor, or one for each of it, input by input").
		OK("one", func(t *T) {
			r := t.Prepare(hbdnn.Relu(2, 2))
			hbdnn.Fill[float32](r, 1, -2, 3, 4)
			t.Compute(r)
			hbdnn.Gives[float32](t.T, r, 1, 0, 3, 4)
		}).
		OK("parts", func(t *T) {
			m := (&hbdnn.ONNX{}).Input("x", 1, 2, 2).Input("z", 1, 2, 2).Output("y", 1, 2, 2).Node("Sub", "y", "x", "z")
			model := t.Model(m)
			r := &hbdnn.Run{Model: model, Out: make([]hbdnn.Tensor, 1)}
			r.Out[0].Properties = *t.Out(model, 0)
			r.Out[0].Mem[0] = t.Mem(16)
			for _, v := range [][]float32{{10, 20}, {30, 40}, {1, 2}, {3, 4}} {
				one := hbdnn.Tensor{Properties: *t.In(model, len(r.In)/2)}
				one.Properties.Valid.Dims[0], one.Properties.Aligned.Dims[0] = 1, 1
				one.Mem[0] = t.Mem(8)
				copy(hbdnn.Of[float32](&one.Mem[0], 2), v)
				r.In = append(r.In, one)
			}
			t.Compute(r)
			hbdnn.Gives[float32](t.T, r, 9, 18, 27, 36)
		}).
		No("mixed", func(t *T) {
			r := t.Prepare(hbdnn.Relu(2, 2))
			r.In = append(r.In, r.In[0])
			r.In[0].Properties.Valid.Dims[0], r.In[0].Properties.Aligned.Dims[0] = 1, 1
			t.Infer(hbdnn.InvalidArgument, address(), r)
			t.Says("input[1]")
		}).
		No("output", func(t *T) {
			r := t.Prepare(hbdnn.Relu(2, 2))
			r.Out[0].Properties.Valid.Dims[0], r.Out[0].Properties.Aligned.Dims[0] = 1, 1
			t.Infer(hbdnn.InvalidArgument, address(), r)
		}),
	rule("6.l_order_of_tensors", "tensors are those of the model's inputs and outputs, in its order").
		OK("two", func(t *T) {
			model := t.Model(two())
			r := &hbdnn.Run{Model: model, In: make([]hbdnn.Tensor, 2), Out: make([]hbdnn.Tensor, 2)}
			for i := range 2 {
				r.In[i].Properties, r.Out[i].Properties = *t.In(model, i), *t.Out(model, i)
				r.In[i].Mem[0], r.Out[i].Mem[0] = t.Mem(16), t.Mem(16)
			}
			copy(hbdnn.Of[float32](&r.In[0].Mem[0], 4), []float32{1, -2, 3, -4})
			copy(hbdnn.Of[float32](&r.In[1].Mem[0], 4), []float32{10, 20, 30, 40})
			t.Compute(r)
			hbdnn.Gives[float32](t.T, r, 11, 18, 33, 36)
			w := hbdnn.Of[float32](&r.Out[1].Mem[0], 4)
			t.Check(slices.Equal(w, []float32{1, 0, 3, 0}), "w is %v", w)
		}).
		No("second", func(t *T) {
			model := t.Model(two())
			r := &hbdnn.Run{Model: model, In: make([]hbdnn.Tensor, 2), Out: make([]hbdnn.Tensor, 2)}
			for i := range 2 {
				r.In[i].Properties, r.Out[i].Properties = *t.In(model, i), *t.Out(model, i)
				r.In[i].Mem[0], r.Out[i].Mem[0] = t.Mem(16), t.Mem(16)
			}
			r.In[1].Mem[0].Size = 8
			t.Infer(hbdnn.InvalidArgument, address(), r)
			t.Says("input[1]", `"z"`)
		}),
}
