package rules

import (
	"fmt"
	"slices"

	"github.com/anynpu/anynpu/conformance/rknn"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// boundTo runs a context with its output bound in a type and format of attributes and returns the memory's bytes.
func (t *T) boundTo(ctx uintptr, a *tensorAttr, kind, format int) []byte {
	b := *a
	if kind >= 0 {
		b.Kind = uint32(kind)
	}
	m := t.Mem(ctx, rknn.Count(a.Shape())*rknn.ElemSize(b.Kind))
	for i := range m.Bytes() {
		m.Bytes()[i] = 0x55
	}
	t.Bind(ctx, m, a, kind, format)
	t.Run(ctx)
	return slices.Clone(m.Bytes())
}

var formats = []*Rule{
	rule("5.j_input_types", "input memory of any type is converted in each run as rknn_inputs_set does; INT8 into an "+
		"int8 model is taken as codes").
		OK("bytes", func(t *T) {
			ctx := t.Open(same(onnxFloat, 1, 2, 1, 3).Meta("anynpu.input.x.mean", []int{10, 20}).Meta("anynpu.input.x.std",
				[]int{2, 4}), 0)
			m := t.Mem(ctx, 6)
			t.Bind(ctx, m, t.Attr(ctx, queryInput, 0), uint8T, -1)
			copy(m.Bytes(), image)
			t.Computes(ctx, -5, 0, 122.5, -4.75, 0, 27)
		}).
		OK("halves", func(t *T) {
			ctx := t.images()
			m := t.Mem(ctx, 12)
			t.Bind(ctx, m, t.Attr(ctx, queryInput, 0), -1, -1)
			rknn.Fill(m, rknn.Halves(0, 1, 10, 20, 255, 128)...)
			t.Computes(ctx, planes...)
		}).
		OK("codes", func(t *T) {
			ctx := t.Open(quantized(0.5, -10, 1, 4).Meta("anynpu.input.x.mean", []int{100}), 0)
			m := t.Mem(ctx, 4)
			t.Bind(ctx, m, t.Attr(ctx, queryInput, 0), -1, -1)
			rknn.Fill[int8](m, -10, -8, 0, 10)
			t.Computes(ctx, 0, 1, 5, 10)
		}).
		No("no_type", func(t *T) {
			ctx := t.images()
			for _, kind := range []uint32{int4T, 12, 1<<32 - 1} {
				a := *t.Attr(ctx, queryInput, 0)
				a.Kind = kind
				t.Bad("set_io_mem", ctx, cmem.Address(t.Mem(ctx, 64)), &a)
				t.Says("attr->type is")
			}
		}),
	rule("5.k_input_formats", "input memory of rank 4 is NHWC or NCHW; NC1HWC2 is PARAM_INVALID, and so are rows "+
		"between images of NCHW").
		OK("nhwc", func(t *T) {
			ctx := t.images()
			m := t.Mem(ctx, 24)
			t.Bind(ctx, m, t.Attr(ctx, queryInput, 0), float32T, nhwc)
			rknn.Fill[float32](m, 0, 1, 10, 20, 255, 128)
			t.Computes(ctx, planes...)
		}).
		OK("nchw", func(t *T) {
			ctx := t.images()
			m := t.Mem(ctx, 24)
			t.Bind(ctx, m, t.Attr(ctx, queryInput, 0), float32T, nchw)
			rknn.Fill(m, planes...)
			t.Computes(ctx, planes...)
			rknn.Fill[float32](m, 1, 2, 3, 4, 5, 6) // read again by each run
			t.Computes(ctx, 1, 2, 3, 4, 5, 6)
		}).
		No("rows_of_nchw", func(t *T) {
			ctx := t.images()
			a := *t.Attr(ctx, queryInput, 0)
			a.Format, a.HStride = nchw, 2
			t.Bad("set_io_mem", ctx, cmem.Address(t.Mem(ctx, 64)), &a)
			t.Says("attr->h_stride is 2")
		}).
		No("others", func(t *T) {
			ctx := t.images()
			for _, format := range []uint32{nc1hwc2, 99} {
				a := *t.Attr(ctx, queryInput, 0)
				a.Format = format
				t.Bad("set_io_mem", ctx, cmem.Address(t.Mem(ctx, 64)), &a)
				t.Says("attr->fmt is")
			}
		}),
	rule("5.l_pass_through_memory", "pass_through takes the model's own type and layout").
		OK("raw", func(t *T) {
			ctx := t.Open(same(onnxFloat, 1, 2, 1, 3).Meta("anynpu.input.x.mean", []int{7}), 0)
			a := *t.Attr(ctx, queryInput, 0)
			a.PassThrough, a.Kind = 1, 99
			m := t.Mem(ctx, 12)
			t.OK("set_io_mem", ctx, cmem.Address(m), &a)
			rknn.Fill(m, rknn.Halves(0, 1, 10, 20, 255, 128)...)
			t.Computes(ctx, planes...)
		}).
		No("small", func(t *T) {
			ctx := t.images()
			a := *t.Attr(ctx, queryInput, 0)
			a.PassThrough = 1
			t.Bad("set_io_mem", ctx, cmem.Address(t.Mem(ctx, 11)), &a)
		}),
	rule("5.m_h_stride", "h_stride is the rows that each image of a batch takes, 0 the input's; fewer than it has are "+
		"PARAM_INVALID").
		OK("rows", func(t *T) {
			ctx := t.Open(same(onnxFloat, 2, 1, 2, 2), 0)
			a := *t.Attr(ctx, queryInput, 0)
			a.Kind, a.HStride = float32T, 3
			m := t.Mem(ctx, 4*(6+4))
			t.OK("set_io_mem", ctx, cmem.Address(m), &a)
			rknn.Fill[float32](m, 1, 2, 3, 4, -9, -9, 5, 6, 7, 8)
			t.Computes(ctx, 1, 2, 3, 4, 5, 6, 7, 8)
		}).
		No("fewer", func(t *T) {
			ctx := t.Open(same(onnxFloat, 2, 1, 2, 2), 0)
			a := *t.Attr(ctx, queryInput, 0)
			a.HStride = 1
			t.Bad("set_io_mem", ctx, cmem.Address(t.Mem(ctx, 256)), &a)
			t.Says("attr->h_stride is 1")
		}),
	rule("5.n_output_types", "output memory takes the reported type or FLOAT32; others are PARAM_INVALID").
		OK("each", func(t *T) {
			ctx := t.Open(quantized(0.5, -10, 1, 4), 0)
			t.Set(ctx, int8T, undefined, []int8{-10, -9, 0, 127})
			a := t.Attr(ctx, queryOutput, 0)
			t.Check(slices.Equal(cmem.As[int8](t.boundTo(ctx, a, -1, -1)), []int8{-10, -9, 0, 127}), "codes")
			t.Check(slices.Equal(cmem.As[float32](t.boundTo(ctx, a, float32T, -1)), []float32{0, 0.5, 5, 68.5}), "floats")
			ctx = t.Open(relu(1, 4), 0)
			t.Set(ctx, float32T, undefined, []float32{-1, 2, -3, 4})
			t.Check(slices.Equal(cmem.As[uint16](t.boundTo(ctx, t.Attr(ctx, queryOutput, 0), -1, -1)), rknn.Halves(0, 2, 0, 4)),
				"halves")
		}).
		No("others", func(t *T) {
			ctx := t.Open(quantized(0.5, -10, 1, 4), 0)
			for _, kind := range []uint32{float16T, uint8T, int32T, 99} {
				a := *t.Attr(ctx, queryOutput, 0)
				a.Kind = kind
				t.Bad("set_io_mem", ctx, cmem.Address(t.Mem(ctx, 64)), &a)
				t.Says("attr->type is")
			}
		}),
	rule("5.o_output_formats", "output memory of rank 4 is NCHW, NHWC or NC1HWC2 with off(n,c,h,w) = (((n C1 + c/C2) H "+
		"+ h) W + w) C2 + c%C2; lanes without a channel hold zp or 0").
		OK("each", func(t *T) {
			const n, c, h, w = 2, 19, 2, 3
			for _, q := range []bool{true, false} {
				m, kind, pad := quantized(1, -5, n, c, h, w), uint32(int8T), int8(-5)
				if !q {
					m, kind, pad = relu(n, c, h, w), float16T, 0
				}
				ctx := t.Open(m, 0)
				src := make([]int8, n*c*h*w)
				value := func(in, ic, ih, iw int) int8 { return int8((((in*c+ic)*h+ih)*w+iw)%100 + 1) }
				for in := range n {
					for ic := range c {
						for ih := range h {
							for iw := range w {
								src[((in*h+ih)*w+iw)*c+ic] = value(in, ic, ih, iw)
							}
						}
					}
				}
				t.Set(ctx, int8T, nhwc, src)
				native := t.Attr(ctx, queryNativeOutput, 0)
				c1, c2 := int(native.Dims[1]), int(native.Dims[4])
				for _, f := range []struct {
					a      *tensorAttr
					offset func(in, ic, ih, iw int) int
				}{
					{t.Attr(ctx, queryOutput, 0), func(in, ic, ih, iw int) int { return ((in*c+ic)*h+ih)*w + iw }},
					{t.Attr(ctx, queryNHWCOutput, 0), func(in, ic, ih, iw int) int { return ((in*h+ih)*w+iw)*c + ic }},
					{native, func(in, ic, ih, iw int) int { return (((in*c1+ic/c2)*h+ih)*w+iw)*c2 + ic%c2 }},
				} {
					got := t.boundTo(ctx, f.a, -1, -1)
					at := func(i int) float32 {
						if kind == int8T {
							return float32(int8(got[i]))
						}
						return float32s(cmem.As[uint16](got)[i])
					}
					lanes := c
					if f.a.Format == nc1hwc2 {
						lanes = c1 * c2
					}
					for in := range n {
						for ic := range lanes {
							for ih := range h {
								for iw := range w {
									want := float32(pad)
									if ic < c {
										want = float32(value(in, ic, ih, iw))
									}
									t.Check(at(f.offset(in, ic, ih, iw)) == want, "%s: element %d %d %d %d is %g, want %g",
										fmt.Sprintf("format %d of type %d", f.a.Format, kind), in, ic, ih, iw, at(f.offset(in, ic, ih, iw)), want)
								}
							}
						}
					}
				}
			}
		}).
		No("no_format", func(t *T) {
			ctx := t.Open(relu(1, 3, 4, 5), 0)
			for _, format := range []uint32{undefined, 4, 99} {
				a := *t.Attr(ctx, queryOutput, 0)
				a.Format = format
				t.Bad("set_io_mem", ctx, cmem.Address(t.Mem(ctx, 4096)), &a)
				t.Says("attr->fmt is")
			}
		}),
	rule("5.oa_native_floats", "FLOAT32 in NC1HWC2 has the C2 of the native attributes, and takes as many elements").
		OK("lanes", func(t *T) {
			const c, h, w = 11, 2, 3
			for _, m := range []*model{relu(1, c, h, w), quantized(1, -5, 1, c, h, w)} {
				ctx := t.Open(m, 0)
				a := t.Attr(ctx, queryNativeOutput, 0)
				src := make([]int8, c*h*w)
				for i := range src {
					src[i] = int8(i + 1)
				}
				t.Set(ctx, uint8T, nhwc, cmem.Bytes(src))
				got := cmem.As[float32](t.boundTo(ctx, a, float32T, -1))
				c1, c2 := int(a.Dims[1]), int(a.Dims[4])
				for ic := range c1 * c2 {
					for i := range h * w {
						want := float32(0)
						if ic < c {
							want = float32(i*c + ic + 1)
						}
						v := got[(ic/c2*h*w+i)*c2+ic%c2]
						t.Check(v == want, "channel %d, pixel %d: %g, want %g", ic, i, v, want)
					}
				}
			}
		}).
		No("small", func(t *T) {
			ctx := t.Open(relu(1, 11, 2, 3), 0)
			a := *t.Attr(ctx, queryNativeOutput, 0)
			a.Kind = float32T
			t.Bad("set_io_mem", ctx, cmem.Address(t.Mem(ctx, 2*int(a.Size)-1)), &a)
		}),
	rule("5.w_no_cache_flags", "with the two DISABLE_FLUSH flags the program syncs itself, and results are the same").
		OK("synced", func(t *T) {
			ctx := t.Open(relu(1, 4), 0xc000)
			x, y := t.Mem(ctx, 16), t.Mem(ctx, 16)
			t.Bind(ctx, x, t.Attr(ctx, queryInput, 0), float32T, -1)
			t.Bind(ctx, y, t.Attr(ctx, queryOutput, 0), float32T, -1)
			rknn.Fill[float32](x, -1, 2, -3, 4)
			t.OK("mem_sync", ctx, cmem.Address(x), 1)
			t.Run(ctx)
			t.OK("mem_sync", ctx, cmem.Address(y), 2)
			t.Check(slices.Equal(cmem.As[float32](y.Bytes()), []float32{0, 2, 0, 4}), "%v", cmem.As[float32](y.Bytes()))
		}).
		No("mode", func(t *T) {
			ctx := t.Open(relu(1, 4), 0xc000)
			t.Bad("mem_sync", ctx, cmem.Address(t.Mem(ctx, 16)), 0)
		}),
	rule("5.s_mixing", "per tensor bound memory wins over rknn_inputs_set, and rknn_outputs_get works for bound and "+
		"unbound outputs").
		OK("mixed", func(t *T) {
			ctx := t.Open(add(1, 2), 0)
			t.OK("inputs_set", ctx, 2, []input{t.Given(0, float32T, undefined, []float32{1, 2}), t.Given(1, float32T, undefined,
				[]float32{10, 20})})
			m := t.Mem(ctx, 8)
			t.Bind(ctx, m, t.Attr(ctx, queryInput, 1), float32T, -1)
			rknn.Fill[float32](m, 100, 200)
			t.Computes(ctx, 101, 202)
			y := t.Mem(ctx, 8)
			t.Bind(ctx, y, t.Attr(ctx, queryOutput, 0), float32T, -1)
			t.Computes(ctx, 101, 202)
			t.Check(slices.Equal(cmem.As[float32](y.Bytes()), []float32{101, 202}), "%v", cmem.As[float32](y.Bytes()))
		}).
		No("other_input_is_missing", func(t *T) {
			ctx := t.Open(add(1, 2), 0)
			t.Bind(ctx, t.Mem(ctx, 8), t.Attr(ctx, queryInput, 1), float32T, -1)
			t.Is(failed, "run", ctx, nil)
		}),
	rule("5.t_bound_memory_that_ended", "a run with a binding to destroyed memory is FAIL, and the tensor is unbound "+
		"then").
		OK("bound_anew", func(t *T) {
			ctx := t.Open(relu(1, 4), 0)
			m := t.Mem(ctx, 16)
			t.Bind(ctx, m, t.Attr(ctx, queryInput, 0), float32T, -1)
			t.OK("destroy_mem", ctx, cmem.Address(m))
			t.Is(failed, "run", ctx, nil)
			t.works(ctx)
		}).
		No("never_run", func(t *T) {
			ctx := t.Open(relu(1, 4), 0)
			m := t.Mem(ctx, 16)
			t.Bind(ctx, m, t.Attr(ctx, queryInput, 0), float32T, -1)
			t.OK("destroy_mem", ctx, cmem.Address(m))
			t.Is(failed, "run", ctx, nil)
			t.Says("destroyed")
			t.Is(failed, "run", ctx, nil)
			t.Says("no data")
		}).
		No("data_from_before", func(t *T) {
			ctx := t.Open(relu(1, 4), 0)
			t.works(ctx)
			m := t.Mem(ctx, 16)
			t.Bind(ctx, m, t.Attr(ctx, queryInput, 0), float32T, -1)
			t.Run(ctx)
			t.OK("destroy_mem", ctx, cmem.Address(m))
			t.Is(failed, "run", ctx, nil)
			t.Is(failed, "run", ctx, nil)
		}).
		No("ended", func(t *T) {
			ctx := t.Open(relu(1, 4), 0)
			x, y := t.Mem(ctx, 16), t.Mem(ctx, 16)
			t.Bind(ctx, x, t.Attr(ctx, queryInput, 0), float32T, -1)
			t.Bind(ctx, y, t.Attr(ctx, queryOutput, 0), float32T, -1)
			t.Run(ctx)
			t.OK("destroy_mem", ctx, cmem.Address(y))
			t.Is(failed, "run", ctx, nil)
			t.Says(`"y"`)
			t.Run(ctx)
			t.OK("destroy_mem", ctx, cmem.Address(x))
			t.Is(failed, "run", ctx, nil)
		}),
	rule("5.u_tensor_by_name", "the name of the attributes decides over the index; a name that is none is PARAM_INVALID").
		OK("name", func(t *T) {
			ctx := t.Open((&model{}).Node("Sub", "y", "a", "b").Input("a", onnxFloat, 2).Input("b", onnxFloat, 2).Output("y",
				onnxFloat, 2), 0)
			t.OK("inputs_set", ctx, 1, []input{t.Given(0, float32T, undefined, []float32{100, 100})})
			a := *t.Attr(ctx, queryInput, 1)
			a.Index = 0
			m := t.Mem(ctx, 8)
			rknn.Fill[float32](m, 1, 2)
			t.Bind(ctx, m, &a, float32T, -1)
			t.Computes(ctx, 99, 98)
		}).
		No("none", func(t *T) {
			ctx := t.Open(relu(1, 4), 0)
			a := *t.Attr(ctx, queryInput, 0)
			copy(a.Name[:], "z\x00")
			t.Bad("set_io_mem", ctx, cmem.Address(t.Mem(ctx, 64)), &a)
			t.Says(`attr->name is "z"`, `"x"`, `"y"`)
		}),
	rule("5.v_tensor_by_index", "without a name, index and n_elems decide, inputs first; neither is PARAM_INVALID").
		OK("index", func(t *T) {
			ctx := t.Open((&model{}).Node("ReduceSum", "y", "x").Input("x", onnxFloat, 1, 4).Output("y", onnxFloat, 1, 1), 0)
			x, y := t.Mem(ctx, 16), t.Mem(ctx, 4)
			a, b := *t.Attr(ctx, queryInput, 0), *t.Attr(ctx, queryOutput, 0)
			clear(a.Name[:])
			clear(b.Name[:])
			t.Bind(ctx, x, &a, float32T, -1)
			t.Bind(ctx, y, &b, float32T, -1)
			rknn.Fill[float32](x, 1, 2, 3, 4)
			t.Run(ctx)
			t.Check(cmem.As[float32](y.Bytes())[0] == 10, "%v", cmem.As[float32](y.Bytes()))
		}).
		No("neither", func(t *T) {
			ctx := t.Open(relu(1, 4), 0)
			a := *t.Attr(ctx, queryInput, 0)
			clear(a.Name[:])
			a.Elems = 5
			t.Bad("set_io_mem", ctx, cmem.Address(t.Mem(ctx, 64)), &a)
			a.Elems, a.Index = 4, 7
			t.Bad("set_io_mem", ctx, cmem.Address(t.Mem(ctx, 64)), &a)
		}),
}

// float32s is a half-precision number of small whole numbers.
func float32s(v uint16) float32 {
	for i := range 2048 {
		if rknn.Half(float32(i)) == v {
			return float32(i)
		}
		if rknn.Half(-float32(i)) == v {
			return -float32(i)
		}
	}
	return -1e9
}
