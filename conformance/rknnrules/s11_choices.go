package rknnrules

import (
	"math"
	"slices"
)

// codes quantizes reals with a scale and zero point and demands what arrives.
func (t *T) codes(scale float32, zero int8, x []float32, want []int8) {
	m := (&model{}).constant("s", onnxFloat, realBytes(scale)).constant("z", onnxInt8, []byte{byte(zero)})
	m.node("QuantizeLinear", "a", "x", "s", "z").node("DequantizeLinear", "b", "a", "s", "z").node("Neg", "c", "b")
	m.node("Neg", "e", "c").node("QuantizeLinear", "d", "e", "s", "z").node("DequantizeLinear", "y", "d", "s", "z")
	ctx := t.open(m.input("x", onnxFloat, int64(len(x))).output("y", onnxFloat, int64(len(x))), 0)
	t.set(ctx, float32T, undefined, x)
	t.run(ctx)
	got := as[int8](t.raw(ctx, 0, 0))
	t.check(slices.Equal(got, want), "%v becomes %v, want %v", x, got, want)
}

// refusedCount sets more elements than there are: the nearest wrong use of a conversion.
func shortInput(elem int64) func(*T) {
	return func(t *T) {
		t.bad("inputs_set", t.open(same(elem, 3), 0), 1, []input{t.given(0, uint8T, undefined, []uint8{1, 2})})
	}
}

var _ = section(
	rule("11.a_rounding_of_codes", "q = clamp(rint(v / scale) + zp), halves to even, saturating").
		ok("halves", func(t *T) {
			t.codes(0.5, 0, []float32{0.25, 0.75, 1.25, -0.25, -0.75, 1e9, -1e9}, []int8{0, 2, 2, 0, -2, 127, -128})
		}).
		ok("zero_point", func(t *T) { t.codes(0.5, -10, []float32{0.25, 0.75, 1.5, -60}, []int8{-10, -8, -7, -128}) }).
		no("short", shortInput(onnxFloat)),
	rule("11.b_nan_becomes_zero_point", "NaN is quantized to zp, infinities saturate").
		ok("nan", func(t *T) {
			t.codes(0.5, -10, []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))},
				[]int8{-10, 127, -128})
		}).
		no("short", shortInput(onnxFloat)),
	rule("11.c_codes_of_reals", "INT8 and UINT8 sources: INT8 into int8 is taken as codes, UINT8 is a number").
		ok("both", func(t *T) {
			ctx := t.open(quantized(0.5, 0, 1, 2), 0)
			t.set(ctx, int8T, undefined, []int8{10, 20})
			t.computes(ctx, 5, 10)
			t.set(ctx, uint8T, undefined, []uint8{10, 20})
			t.computes(ctx, 10, 20)
		}).
		no("short", func(t *T) {
			t.bad("inputs_set", t.open(quantized(0.5, 0, 1, 2), 0), 1, []input{t.given(0, int8T, undefined, []int8{10})})
		}),
	rule("11.d_to_half", "reals become half precision to nearest even, overflow infinity, subnormals kept").
		ok("numbers", func(t *T) {
			ctx := t.open(same(onnxHalf, 6), 0)
			t.set(ctx, float32T, undefined, []float32{2049, 2051, 65519, 65520, 1.0 / (1 << 24), -1e9})
			t.computes(ctx, 2048, 2052, 65504, float32(math.Inf(1)), 1.0/(1<<24), float32(math.Inf(-1)))
		}).
		no("short", shortInput(onnxHalf)),
	rule("11.e_between_integers", "integers saturate").
		ok("saturate", func(t *T) {
			ctx := t.open(same(onnxInt32, 4), 0)
			t.set(ctx, int64T, undefined, []int64{-5, 7, math.MaxInt64, math.MinInt64})
			t.run(ctx)
			got := as[int32](t.raw(ctx, 0, 0))
			t.check(slices.Equal(got, []int32{-5, 7, math.MaxInt32, math.MinInt32}), "%v", got)
			ctx = t.open(same(onnxUint8, 3), 0)
			t.set(ctx, int16T, undefined, []int16{-1, 200, 300})
			t.run(ctx)
			t.check(slices.Equal(t.raw(ctx, 0, 0), []byte{0, 200, 255}), "bytes")
		}).
		no("short", shortInput(onnxInt32)),
	rule("11.f_to_bool", "what is not 0 becomes 1").
		ok("ones", func(t *T) {
			ctx := t.open(same(onnxBool, 3), 0)
			t.set(ctx, int8T, undefined, []int8{0, -3, 9})
			t.run(ctx)
			t.check(slices.Equal(t.raw(ctx, 0, 0), []byte{0, 1, 1}), "%v", t.raw(ctx, 0, 0))
		}).
		no("short", shortInput(onnxBool)),
	rule("11.g_reals_to_integers", "reals for an integer input are cut off towards zero and saturate; NaN is 0").
		ok("cut", func(t *T) {
			ctx := t.open(same(onnxInt32, 4), 0)
			t.set(ctx, float32T, undefined, []float32{-1.9, 1.9, 1e20, float32(math.NaN())})
			t.run(ctx)
			got := as[int32](t.raw(ctx, 0, 0))
			t.check(slices.Equal(got, []int32{-1, 1, math.MaxInt32, 0}), "%v", got)
		}).
		no("short", shortInput(onnxInt32)),
	rule("11.h_dequantized_with_one_multiply", "(float)(q - zp) x scale, one float32 multiplication").
		ok("every_code", func(t *T) {
			const scale, zero = float32(0.0173), int8(-37)
			var q []int8
			for v := -128; v < 128; v++ {
				q = append(q, int8(v))
			}
			ctx := t.open(quantized(scale, zero, 256), 0)
			t.set(ctx, int8T, undefined, q)
			t.run(ctx)
			for i, got := range t.floats(ctx) {
				want := float32(max(int32(q[i]), int32(zero))-int32(zero)) * scale
				t.check(got == want, "code %d is %g, want %g", q[i], got, want)
			}
		}).
		no("short_buffer", func(t *T) {
			b := make([]byte, 15)
			t.refusedOutput(badOutput, output{wantFloat: 1, isPrealloc: 1, buf: address(&b[0]), size: 15})
		}),
	rule("11.i_order_of_codes", "handle first, then NULLs and counts, then index, then sizes, then formats, then the "+
		"state").
		ok("right", openRelu).
		no("handle_before_NULL", func(t *T) { t.is(badContext, "inputs_set", 0, 0, nil) }).
		no("count_before_index", func(t *T) { t.bad("inputs_set", t.images(), 2, []input{{index: 9}, {index: 9}}) }).
		no("index_before_NULL_buf", func(t *T) { t.is(badInput, "inputs_set", t.images(), 1, []input{{index: 9}}) }).
		no("NULL_buf_before_type", func(t *T) { t.bad("inputs_set", t.images(), 1, []input{{kind: 99, format: nchw}}) }).
		no("size_before_format", func(t *T) {
			in := t.given(0, uint8T, nchw, []uint8{1})
			t.bad("inputs_set", t.images(), 1, []input{in})
		}).
		no("output_index_before_state", func(t *T) {
			t.is(badOutput, "outputs_get", t.open(relu(1, 4), 0), 1, []output{{index: 9, isPrealloc: 1}}, nil)
		}),
	rule("11.j_unknown_flag_bits", "bits that no header names are ignored in flag and in alloc_flags").
		ok("ignored", func(t *T) {
			ctx := t.open(relu(1, 4), 0xfff00000)
			t.ownedMem(t.ptr("create_mem2", ctx, uint64(64), uint64(1)<<63))
			t.works(ctx)
		}).
		no("known_ones_count", func(t *T) { t.is(failed, "run", t.open(relu(1, 4), 0xfff00000|flagInfoOnly), nil) }),
	rule("11.ja_padding_is_not_read", "padding, reserved bytes and fields that a call does not use may hold anything").
		ok("garbage", func(t *T) {
			in := []input{t.given(0, uint8T, nhwc, image)}
			b := span[byte](address(&in[0]), 32)
			for _, i := range []int{4, 5, 6, 7, 21, 22, 23} {
				b[i] = 0xaa
			}
			ctx := t.images()
			t.ok("inputs_set", ctx, 1, in)
			t.computes(ctx, planes...)
			a := *t.attr(ctx, queryInput, 0)
			a.fl, a.zp, a.scale, a.qnt, a.size, a.sizeWithStride, a.wStride = 9, 99, -1, 99, 1<<31, 1<<31, 77
			t.ok("set_io_mem", ctx, address(t.mem(ctx, 24)), &a)
			e := initExtend{fd: -1431655766, bufferFlags: 0xaaaaaaaa}
			t.works(t.openWith(relu(1, 4), 0, &e))
		}).
		no("used_fields_count", func(t *T) {
			ctx := t.images()
			a := *t.attr(ctx, queryInput, 0)
			a.kind = 99
			t.bad("set_io_mem", ctx, address(t.mem(ctx, 24)), &a)
		}),
	rule("11.k_same_name_twice", "a name that an input and an output share is told apart by index and n_elems, inputs "+
		"first").
		ok("input", func(t *T) {
			m := (&model{}).node("Relu", "y", "x").input("x", onnxFloat, 1, 4).output("x", onnxFloat, 1, 4).output("y",
				onnxFloat, 1, 4)
			ctx := t.open(m, 0)
			x := t.mem(ctx, 16)
			fill[float32](x, -1, 2, -3, 4)
			t.bind(ctx, x, t.attr(ctx, queryInput, 0), float32T, -1)
			t.run(ctx)
			got := as[float32](t.raw(ctx, 1, 1))
			t.check(slices.Equal(got, []float32{0, 2, 0, 4}), "%v", got)
		}).
		no("neither", func(t *T) {
			m := (&model{}).node("Relu", "y", "x").input("x", onnxFloat, 1, 4).output("x", onnxFloat, 1, 4).output("y",
				onnxFloat, 1, 4)
			ctx := t.open(m, 0)
			a := *t.attr(ctx, queryInput, 0)
			a.elems = 9
			t.bad("set_io_mem", ctx, address(t.mem(ctx, 64)), &a)
		}),
	rule("11.l_destroy_waits", "rknn_destroy waits for a run in progress").
		ok("waits", func(t *T) {
			ctx := t.open(relu(1, 64, 128, 128), 0)
			t.set(ctx, int8T, nhwc, make([]int8, 64*128*128))
			t.together(2, func(i int) string {
				if i == 0 {
					if c := t.code("run", ctx, nil); c != 0 && c != badContext {
						return "rknn_run: " + codeName(c)
					}
					return ""
				}
				if c := t.code("destroy", ctx); c != 0 {
					return "rknn_destroy: " + codeName(c)
				}
				return ""
			})
			t.judged(true)
		}).
		no("ended", func(t *T) {
			ctx := t.open(relu(1, 4), 0)
			t.ok("destroy", ctx)
			t.is(badContext, "run", ctx, nil)
		}),
	rule("11.m_results_in_bound_memory", "rknn_outputs_get of a bound output gives the result that lies in its memory").
		ok("same", func(t *T) {
			ctx := t.open(quantized(0.5, 0, 1, 4), 0)
			y := t.mem(ctx, 4)
			t.bind(ctx, y, t.attr(ctx, queryOutput, 0), -1, -1)
			t.set(ctx, int8T, undefined, []int8{2, -4, 6, 8})
			t.computes(ctx, 1, 0, 3, 4)
			t.check(slices.Equal(as[int8](y.bytes()), []int8{2, 0, 6, 8}), "%v", as[int8](y.bytes()))
		}).
		no("before_a_run", func(t *T) {
			ctx := t.open(relu(1, 4), 0)
			t.bind(ctx, t.mem(ctx, 16), t.attr(ctx, queryOutput, 0), -1, -1)
			t.is(failed, "outputs_get", ctx, 1, []output{{}}, nil)
		}),
	rule("11.n_model_file_may_go", "a model's file may be removed or replaced while a context lives").
		ok("removed", func(t *T) {
			path, ctx := t.file("m.onnx", add(1, 2).bytes()), new(uintptr)
			t.ok("init", ctx, path, 0, 0, nil)
			t.owned(*ctx)
			t.file("m.onnx", []byte("gone"))
			d := t.dup(*ctx)
			t.ok("inputs_set", d, 2, []input{t.given(0, float32T, undefined, []float32{1, 2}), t.given(1, float32T, undefined,
				[]float32{3, 4})})
			t.computes(d, 4, 6)
		}).
		no("replaced", func(t *T) {
			t.is(badModel, "init", new(uintptr), t.file("m.onnx", []byte("gone")), 0, 0, nil)
		}),
)
