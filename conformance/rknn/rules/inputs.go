package rules

import (
	"math"
	"slices"

	"github.com/anynpu/anynpu/conformance/rknn"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// image is 1 x 2 x 1 x 3: channel 0 is 0, 10, 255, channel 1 is 1, 20, 128, in the order of NHWC.
var image = []uint8{0, 1, 10, 20, 255, 128}

// planes is image in the model's order.
var planes = []float32{0, 10, 255, 1, 20, 128}

func (t *T) images() uintptr { return t.Open(same(onnxFloat, 1, 2, 1, 3), 0) }

// refusedInput gives image with a change.
func (t *T) refusedInput(code int, change func(*input), parts ...string) {
	ctx := t.images()
	in := t.Given(0, uint8T, nhwc, image)
	change(&in)
	t.Is(code, "inputs_set", ctx, 1, []input{in})
	t.Says(parts...)
	t.Is(failed, "run", ctx, nil)
}

var inputs = []*Rule{
	rule("4.a_n_inputs", "1 to all inputs may be set at once; none, more and NULL are PARAM_INVALID").
		OK("all", func(t *T) {
			ctx := t.Open(add(1, 2), 0)
			t.OK("inputs_set", ctx, 2, []input{t.Given(0, float32T, undefined, []float32{1, 2}), t.Given(1, float32T,
				undefined,
				[]float32{10, 20})})
			t.Computes(ctx, 11, 22)
		}).
		No("none", func(t *T) {
			t.Bad("inputs_set", t.images(), 0, []input{{}})
			t.Says("n_inputs is 0")
		}).
		No("more", func(t *T) {
			in := t.Given(0, uint8T, nhwc, image)
			t.Bad("inputs_set", t.images(), 2, []input{in, in})
			t.Says("n_inputs is 2", "1 input")
			t.Bad("inputs_set", t.images(), uint32(1<<32-1), []input{in})
		}).
		No("NULL", func(t *T) { t.Bad("inputs_set", t.images(), 1, nil) }),
	rule("4.b_index", "index selects the input, whatever the order; one that is none, or that of another entry, is "+
		"INPUT_INVALID").
		OK("any_order", func(t *T) {
			ctx := t.Open((&model{}).Node("Sub", "y", "a", "b").Input("a", onnxFloat, 2).Input("b", onnxFloat, 2).Output("y",
				onnxFloat, 2), 0)
			t.OK("inputs_set", ctx, 2, []input{t.Given(1, float32T, undefined, []float32{1, 2}), t.Given(0, float32T,
				undefined,
				[]float32{10, 20})})
			t.Computes(ctx, 9, 18)
		}).
		No("none", func(t *T) {
			t.refusedInput(badInput, func(in *input) { in.Index = 1 }, "inputs[0].index is 1")
			t.refusedInput(badInput, func(in *input) { in.Index = 1<<32 - 1 })
		}).
		No("twice", func(t *T) {
			ctx := t.Open(add(1, 2), 0)
			in := t.Given(0, float32T, undefined, []float32{1, 2})
			t.Is(badInput, "inputs_set", ctx, 2, []input{in, in})
			t.Says("inputs[1].index is 0", "inputs[0]")
		}),
	rule("4.c_size", "size is at least n_elems times the bytes of type; more is accepted").
		OK("more", func(t *T) {
			ctx := t.images()
			t.Set(ctx, uint8T, nhwc, append(slices.Clone(image), 9, 9, 9))
			t.Computes(ctx, planes...)
		}).
		No("less", func(t *T) {
			t.refusedInput(badParam, func(in *input) { in.Size = 5 }, "inputs[0].size is 5", "6 bytes")
			t.refusedInput(badParam, func(in *input) { in.Size = 0 })
		}),
	rule("4.d_forgotten_type", "a type that was not set is FLOAT32 and demands four bytes per element; the message says "+
		"which type would fit").
		OK("set", func(t *T) { t.Set(t.images(), uint8T, nhwc, image) }).
		No("forgotten", func(t *T) {
			t.refusedInput(badParam, func(in *input) { in.Kind = 0 }, "inputs[0].size is 6", "24 bytes", "RKNN_TENSOR_UINT8",
				"RKNN_TENSOR_FLOAT32")
		}),
	rule("4.e_source_types", "every type is converted to the model's reals").
		OK("each", func(t *T) {
			ctx := t.images()
			for kind, v := range map[uint32]any{
				float32T: []float32{0, 1, 10, 20, 255, 128}, float16T: rknn.Halves(0, 1, 10, 20, 255, 128), uint8T: image,
				int16T:  []int16{0, 1, 10, 20, 255, 128},
				uint16T: []uint16{0, 1, 10, 20, 255, 128}, int32T: []int32{0, 1, 10, 20, 255, 128}, uint32T: []uint32{0, 1, 10,
					20,
					255, 128},
				int64T: []int64{0, 1, 10, 20, 255, 128}, bfloat16T: []uint16{0, 0x3f80, 0x4120, 0x41a0, 0x437f, 0x4300},
			} {
				t.Set(ctx, kind, nhwc, v)
				t.Computes(ctx, planes...)
			}
			t.Set(ctx, int8T, nhwc, []int8{0, 1, -10, 20, -128, 127})
			t.Computes(ctx, 0, -10, -128, 1, 20, 127)
			t.Set(ctx, boolT, nhwc, []uint8{0, 1, 1, 0, 7, 0})
			t.Computes(ctx, 0, 1, 1, 1, 0, 0)
		}).
		No("no_type", func(t *T) {
			for _, kind := range []uint32{int4T, 12, 99, 1<<32 - 1} {
				t.refusedInput(failed, func(in *input) { in.Kind = kind }, "inputs[0].type is")
			}
		}),
	rule("4.ea_whole_numbers",
		"integers become other integers with all their bits, also beyond what reals hold; what does not "+
			"fit is the nearest number that does").
		OK("kept", func(t *T) {
			for _, dims := range [][]int64{{4}, {1, 4, 1, 1}, {1, 2, 2, 1}} {
				ctx := t.Open(same(onnxInt64, dims...), 0)
				for _, v := range []any{[]int32{1<<24 + 1, -1 << 31, 1<<31 - 1, -(1<<24 + 3)}, []int16{-1 << 15, 1<<15 - 1, -1,
					300},
					[]int64{1<<53 + 1, -1 << 63, 1<<63 - 1, -(1<<53 + 1)}} {
					want, kind := make([]int64, 4), uint32(0)
					for i := range want {
						switch x := v.(type) {
						case []int32:
							want[i], kind = int64(x[i]), int32T
						case []int16:
							want[i], kind = int64(x[i]), int16T
						case []int64:
							want[i], kind = x[i], int64T
						}
					}
					t.Set(ctx, kind, nhwc, v)
					t.Run(ctx)
					got := cmem.As[int64](t.Raw(ctx, 0, 0))
					if len(dims) == 4 && dims[1] == 2 { // NHWC 2 x 1 x 2 is another order as NCHW
						want = []int64{want[0], want[2], want[1], want[3]}
					}
					t.Check(slices.Equal(got, want), "%v of %T: got %v, want %v", dims, v, got, want)
				}
			}
		}).
		OK("saturated", func(t *T) {
			ctx := t.Open(same(onnxInt32, 4), 0)
			t.Set(ctx, int64T, undefined, []int64{1<<31 - 1, 1 << 31, -1<<31 - 1, 1<<24 + 1})
			t.Run(ctx)
			got := cmem.As[int32](t.Raw(ctx, 0, 0))
			t.Check(slices.Equal(got, []int32{1<<31 - 1, 1<<31 - 1, -1 << 31, 1<<24 + 1}), "got %v", got)
		}).
		No("size", func(t *T) {
			t.Bad("inputs_set", t.Open(same(onnxInt64, 4), 0), 1, []input{t.Given(0, int64T, undefined, []int32{1, 2, 3, 4})})
		}),
	rule("4.f_layout", "an input of rank 4 is taken in NHWC or, as runtimes since 2.4 do, in NCHW; NC1HWC2 is FAIL with "+
		"both formats named").
		OK("nhwc", func(t *T) {
			ctx := t.images()
			t.Set(ctx, uint8T, nhwc, image)
			t.Computes(ctx, planes...)
		}).
		OK("nchw", func(t *T) {
			ctx := t.images()
			t.Set(ctx, uint8T, nchw, []uint8{0, 10, 255, 1, 20, 128})
			t.Computes(ctx, planes...)
			t.Set(ctx, float32T, nchw, []float32{0, 10, 255, 1, 20, 128})
			t.Computes(ctx, planes...)
			t.Set(ctx, uint8T, nhwc, image)
			t.Computes(ctx, planes...)
		}).
		OK("nchw_normalized", func(t *T) { // per channel, as in NHWC
			ctx := t.Open(same(onnxFloat, 1, 2, 1, 3).Meta("anynpu.input.x.mean", []int{10, 20}).Meta("anynpu.input.x.std",
				[]int{2, 4}), 0)
			t.Set(ctx, uint8T, nchw, []uint8{0, 10, 255, 1, 20, 128})
			t.Computes(ctx, -5, 0, 122.5, -4.75, 0, 27)
		}).
		OK("nchw_pass_through", func(t *T) { // fmt does not count: the elements lie as the model's input does
			ctx := t.images()
			in := t.Given(0, float16T, nchw, rknn.Halves(0, 1, 10, 20, 255, 128))
			in.PassThrough = 1
			t.OK("inputs_set", ctx, 1, []input{in})
			t.Computes(ctx, planes...)
		}).
		OK("nchw_attributes_stay", func(t *T) {
			ctx := t.images()
			t.Set(ctx, uint8T, nchw, image)
			a := t.Attr(ctx, queryInput, 0)
			t.Check(a.Format == nhwc && slices.Equal(a.Shape(), []uint32{1, 1, 3, 2}), "fmt %d, dims %v", a.Format, a.Shape())
		}).
		No("native", func(t *T) {
			t.refusedInput(failed, func(in *input) { in.Format = nc1hwc2 }, "inputs[0].fmt is RKNN_TENSOR_NC1HWC2",
				"RKNN_TENSOR_NHWC", "RKNN_TENSOR_NCHW")
		}),
	rule("4.fa_layout_of_metadata", "an input that the metadata call nchw is taken in NCHW alone").
		OK("nchw", func(t *T) {
			ctx := t.Open(same(onnxFloat, 1, 2, 1, 3).Meta("anynpu.input.x.layout", "nchw"), 0)
			t.Set(ctx, uint8T, nchw, []uint8{0, 10, 255, 1, 20, 128})
			t.Computes(ctx, planes...)
		}).
		No("nhwc", func(t *T) {
			ctx := t.Open(same(onnxFloat, 1, 2, 1, 3).Meta("anynpu.input.x.layout", "nchw"), 0)
			t.Is(failed, "inputs_set", ctx, 1, []input{t.Given(0, uint8T, nhwc, image)})
			t.Says("inputs[0].fmt is RKNN_TENSOR_NHWC", "anynpu.input.x.layout")
		}),
	rule("4.g_layout_of_other_ranks", "fmt does not count at another rank than 4").
		OK("any", func(t *T) {
			ctx := t.Open(relu(1, 2, 2), 0)
			for _, f := range []uint32{nchw, nhwc, nc1hwc2, undefined, 77} {
				t.Set(ctx, float32T, f, []float32{-1, 2, -3, 4})
				t.Computes(ctx, 0, 2, 0, 4)
			}
		}).
		No("rank_4", func(t *T) { t.refusedInput(failed, func(in *input) { in.Format = 77 }) }),
	rule("4.h_mean_and_std", "(x - mean) / std of the model's metadata, per channel of what the program gives").
		OK("channels", func(t *T) {
			ctx := t.Open(same(onnxFloat, 1, 2, 1, 3).Meta("anynpu.input.x.mean", []int{10, 20}).Meta("anynpu.input.x.std",
				[]int{2, 4}), 0)
			t.Set(ctx, uint8T, nhwc, image)
			t.Computes(ctx, -5, 0, 122.5, -4.75, 0, 27)
			t.Set(ctx, float32T, nhwc, []float32{0, 1, 10, 20, 255, 128})
			t.Computes(ctx, -5, 0, 122.5, -4.75, 0, 27)
		}).
		No("too_many", func(t *T) {
			t.refusedModel(same(onnxFloat, 1, 2, 1, 3).Meta("anynpu.input.x.mean", []int{1, 2, 3, 4}).Bytes())
			t.Says("anynpu.input.x.mean")
			t.refusedModel(same(onnxFloat, 1, 2, 1, 3).Meta("anynpu.input.x.std", []int{0}).Bytes())
		}),
	rule("4.ha_channels_last", "numbers per channel of an input whose channels are dimension 3, as networks of "+
		"TensorFlow "+
		"have them, count along that; programs see it in NHWC as it is").
		OK("bytes", func(t *T) {
			ctx := t.Open(same(onnxFloat, 1, 1, 3, 2).Meta("anynpu.input.x.mean", []int{10, 20}).Meta("anynpu.input.x.std",
				[]int{2, 4}), 0)
			a := t.Attr(ctx, queryInput, 0)
			t.Check(a.Format == nhwc && slices.Equal(a.Shape(), []uint32{1, 1, 3, 2}), "fmt %d, dims %v", a.Format, a.Shape())
			t.Set(ctx, uint8T, nhwc, image)
			t.Computes(ctx, -5, -4.75, 0, 0, 122.5, 27)
			t.Set(ctx, uint8T, nchw, []uint8{0, 10, 255, 1, 20, 128})
			t.Computes(ctx, -5, -4.75, 0, 0, 122.5, 27)
		}).
		OK("swapped", func(t *T) { // red and blue change places in dimension 3
			ctx := t.Open(same(onnxFloat, 1, 1, 2, 3).Meta("anynpu.input.x.pixel", "rgb").Meta("anynpu.input.x.order", "bgr"), 0)
			t.Set(ctx, uint8T, nhwc, []uint8{1, 2, 3, 4, 5, 6})
			t.Computes(ctx, 3, 2, 1, 6, 5, 4)
		}).
		OK("shapes", func(t *T) { // are those of the model
			ctx := t.Open(same(onnxFloat, 1, -1, 3, 2).Meta("anynpu.input.x.std", []int{2, 4}).
				Meta("anynpu.input.x.shapes", [][]int{{1, 1, 3, 2}, {1, 2, 3, 2}}), 0)
			t.OK("set_input_shapes", ctx, 1, shapeAttr(0, nhwc, 1, 1, 3, 2))
			t.Set(ctx, uint8T, nhwc, image)
			t.Computes(ctx, 0, 0.25, 5, 5, 127.5, 32)
		}).
		OK("one_number", func(t *T) { // says nothing of channels: dimension 1 are those
			ctx := t.Open(same(onnxFloat, 1, 1, 3, 2).Meta("anynpu.input.x.mean", []int{10}), 0)
			a := t.Attr(ctx, queryInput, 0)
			t.Check(slices.Equal(a.Shape(), []uint32{1, 3, 2, 1}), "dims %v", a.Shape())
		}).
		No("neither", func(t *T) {
			t.refusedModel(same(onnxFloat, 1, 2, 1, 3).Meta("anynpu.input.x.std", []int{1, 2, 3, 4}).Bytes())
			t.Says("anynpu.input.x.std has 4 numbers", "dimension 1 or 3")
		}),
	rule("4.i_no_metadata", "bytes for a model without mean and std give one warning with the formula").
		Ours("sentences of the log").
		OK("once", func(t *T) {
			ctx := t.images()
			t.Set(ctx, uint8T, nhwc, image)
			t.Logs("anynpu.input.x.mean", "formula")
			t.Set(ctx, uint8T, nhwc, image)
			t.Check(len(t.TakeLog()) == 0, "warned again")
			t.Judged(true)
		}).
		No("not_taken", func(t *T) { t.refusedInput(badParam, func(in *input) { in.Size = 1 }) }),
	rule("4.ia_bytes_by_default", "that warning is shown where errors are, once for a model and its duplicates, and not "+
		"if mean, std and fmt are known").
		Ours("sentences of the log").
		OK("default", func(t *T) {
			ctx := t.images()
			t.TakeLog()
			t.Set(ctx, uint8T, nhwc, image)
			t.Logs("anynpu.input.x.mean", "formula")
			t.Set(t.Dup(ctx), uint8T, nhwc, image)
			t.Silent()
		}).With("ANYNPU_LOG=").
		OK("quantized", func(t *T) {
			ctx := t.Open(quantized(1.0/255, -128, 1, 4), 0)
			t.TakeLog()
			t.Set(ctx, int8T, undefined, []int8{0, 1, 2, 3})
			t.Silent()
			t.Set(ctx, uint8T, undefined, []uint8{0, 1, 2, 3})
			t.Logs("anynpu.input.x.mean", "formula")
		}).With("ANYNPU_LOG=").
		OK("codes_into_reals", func(t *T) {
			ctx := t.images()
			t.TakeLog()
			t.OK("inputs_set", ctx, 1, []input{t.Given(0, int8T, nhwc, []int8{1, 2, 3, 4, 5, 6})})
			t.Logs("anynpu.input.x.mean", "RKNN_TENSOR_INT8")
		}).With("ANYNPU_LOG=").
		OK("known", func(t *T) {
			for _, m := range []*model{same(onnxFloat, 1, 2, 1, 3).Meta("anynpu.input.x.mean", []int{0}),
				same(onnxFloat, 1, 2, 1, 3).Meta("anynpu.input.x.std", []int{255}), same(onnxUint8, 1, 2, 1, 3)} {
				ctx := t.Open(m, 0)
				t.TakeLog()
				t.Set(ctx, uint8T, nhwc, image)
				t.Silent()
			}
			ctx := t.images()
			t.TakeLog()
			t.Set(ctx, float32T, nhwc, make([]float32, 6))
			t.Silent()
		}).
		No("off", func(t *T) {
			t.refusedInput(badParam, func(in *input) { in.Size = 1 })
			t.Set(t.images(), uint8T, nhwc, image)
			t.Silent()
		}).With("ANYNPU_LOG=off"),
	rule("4.j_quantized_input", "reals and bytes are normalized, then quantized: an image of 0..255 is x - 128 at scale "+
		"1/255, zp -128, std 255").
		OK("bytes", func(t *T) {
			ctx := t.Open(quantized(1.0/255, -128, 1, 4).Meta("anynpu.input.x.std", []int{255}), 0)
			t.Set(ctx, uint8T, undefined, []uint8{0, 1, 128, 255})
			t.Run(ctx)
			got := cmem.As[int8](t.Raw(ctx, 0, 0))
			t.Check(slices.Equal(got, []int8{-128, -127, 0, 127}), "got %v", got)
		}).
		No("short", func(t *T) {
			ctx := t.Open(quantized(1.0/255, -128, 1, 4), 0)
			t.Bad("inputs_set", ctx, 1, []input{t.Given(0, uint8T, undefined, []uint8{1, 2, 3})})
		}),
	rule("4.ja_codes_of_16_bits", "INT16 into an INT16 input is codes already, as INT8 into an INT8 input is").
		OK("inputs_set", func(t *T) {
			ctx := t.Open(quantized16(0.25, -9, 1, 4).Meta("anynpu.input.x.std", []int{255}), 0)
			t.Set(ctx, int16T, undefined, []int16{-32768, -9, 0, 32767})
			t.Run(ctx)
			got := cmem.As[int16](t.Raw(ctx, 0, 0))
			t.Check(slices.Equal(got, []int16{-32768, -9, 0, 32767}), "got %v", got)
		}).
		No("short", func(t *T) {
			ctx := t.Open(quantized16(0.25, -9, 1, 4), 0)
			t.Bad("inputs_set", ctx, 1, []input{t.Given(0, int16T, undefined, []int16{1, 2, 3})})
		}),
	rule("4.k_normalized_twice", "normalization is applied to floats too: what is normalized already becomes small").
		OK("small", func(t *T) {
			ctx := t.Open(same(onnxFloat, 1, 2).Meta("anynpu.input.x.std", []int{256}), 0)
			t.Set(ctx, float32T, undefined, []float32{0.5, 1})
			t.Computes(ctx, 0.5/256, 1.0/256)
		}).
		No("pass_through_size", func(t *T) {
			ctx := t.Open(same(onnxFloat, 1, 2).Meta("anynpu.input.x.std", []int{256}), 0)
			in := t.Given(0, float32T, undefined, []float32{0.5})
			in.PassThrough, in.Size = 1, 3
			t.Bad("inputs_set", ctx, 1, []input{in})
		}),
	rule("4.l_pass_through", "pass_through 1 takes the bytes as the model's own type and layout, whatever type and fmt "+
		"say").
		OK("codes", func(t *T) {
			ctx := t.Open(quantized(1.0/255, -128, 1, 4).Meta("anynpu.input.x.std", []int{255}), 0)
			in := t.Given(0, float32T, 99, []int8{-128, -1, 0, 127})
			in.PassThrough = 1
			t.OK("inputs_set", ctx, 1, []input{in})
			t.Run(ctx)
			got := cmem.As[int8](t.Raw(ctx, 0, 0))
			t.Check(slices.Equal(got, []int8{-128, -1, 0, 127}), "got %v", got)
		}).
		OK("halves", func(t *T) {
			ctx := t.Open(same(onnxFloat, 1, 2).Meta("anynpu.input.x.mean", []int{7}), 0)
			in := t.Given(0, uint8T, nchw, rknn.Halves(1.5, -2))
			in.PassThrough = 1
			t.OK("inputs_set", ctx, 1, []input{in})
			t.Computes(ctx, 1.5, -2)
		}).
		No("size_of_the_own_type", func(t *T) {
			t.refusedInput(badParam, func(in *input) { in.PassThrough = 1 }, "12 bytes", "pass_through is 1")
		}),
	rule("4.m_copied", "the buffer is copied: the program may free it at once").
		OK("cleared", func(t *T) {
			ctx, b := t.images(), slices.Clone(image)
			t.OK("inputs_set", ctx, 1, []input{{Buf: cmem.First(b), Size: 6, Kind: uint8T, Format: nhwc}})
			clear(b)
			t.Computes(ctx, planes...)
		}).
		No("NULL", func(t *T) { t.refusedInput(badParam, func(in *input) { in.Buf = 0 }, "inputs[0].buf is NULL") }),
	rule("4.n_inputs_stay", "one rknn_inputs_set serves any number of runs").
		OK("many", func(t *T) {
			ctx := t.images()
			t.Set(ctx, uint8T, nhwc, image)
			for range 15 {
				t.Computes(ctx, planes...)
			}
		}).
		No("never_set", func(t *T) { t.Is(failed, "run", t.images(), nil) }),
	rule("4.o_some_inputs", "some inputs may be set alone and keep their values; a run wants all").
		OK("one_by_one", func(t *T) {
			ctx := t.Open(add(1, 2), 0)
			t.OK("inputs_set", ctx, 1, []input{t.Given(1, float32T, undefined, []float32{10, 20})})
			t.OK("inputs_set", ctx, 1, []input{t.Given(0, float32T, undefined, []float32{1, 2})})
			t.Computes(ctx, 11, 22)
			t.OK("inputs_set", ctx, 1, []input{t.Given(0, float32T, undefined, []float32{3, 4})})
			t.Computes(ctx, 13, 24)
		}).
		No("one_missing", func(t *T) {
			ctx := t.Open(add(1, 2), 0)
			t.OK("inputs_set", ctx, 1, []input{t.Given(1, float32T, undefined, []float32{10, 20})})
			t.Is(failed, "run", ctx, nil)
			t.Says(`"a"`, "rknn_inputs_set")
		}),
	rule("4.p_all_or_none", "all inputs of a call are judged before the first is taken").
		OK("again", func(t *T) {
			ctx := t.Open(add(1, 2), 0)
			good := []input{t.Given(0, float32T, undefined, []float32{1, 2}), t.Given(1, float32T, undefined, []float32{10,
				20})}
			t.OK("inputs_set", ctx, 2, good)
			t.Is(badInput, "inputs_set", ctx, 2, []input{t.Given(0, float32T, undefined, []float32{7, 7}), {Index: 5}})
			t.Computes(ctx, 11, 22)
		}).
		No("second_is_wrong", func(t *T) {
			ctx := t.Open(add(1, 2), 0)
			t.Bad("inputs_set", ctx, 2, []input{t.Given(0, float32T, undefined, []float32{7, 7}), {Index: 1}})
			t.Is(failed, "run", ctx, nil)
		}),
	rule("4.q_not_a_number", "NaN and infinities reach a model of reals as they are").
		OK("kept", func(t *T) {
			ctx := t.Open(same(onnxFloat, 3), 0)
			nan, inf := float32(math.NaN()), float32(math.Inf(1))
			t.Set(ctx, float32T, undefined, []float32{nan, inf, -inf})
			t.Computes(ctx, nan, inf, -inf)
		}).
		No("short", func(t *T) {
			t.Bad("inputs_set", t.Open(same(onnxFloat, 3), 0), 1, []input{t.Given(0, float32T, undefined, []float32{1, 2})})
		}),
}
