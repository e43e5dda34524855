package rules

import (
	"math"
	"slices"

	"github.com/anynpu/anynpu/conformance/rknn"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// codes quantizes reals with a scale and zero point and demands what arrives.
func (t *T) codes(scale float32, zero int8, x []float32, want []int8) {
	m := (&model{}).Constant("s", onnxFloat, rknn.RealBytes(scale)).Constant("z", onnxInt8, []byte{byte(zero)})
	m.Node("QuantizeLinear", "a", "x", "s", "z").Node("DequantizeLinear", "b", "a", "s", "z").Node("Neg", "c", "b")
	m.Node("Neg", "e", "c").Node("QuantizeLinear", "d", "e", "s", "z").Node("DequantizeLinear", "y", "d", "s", "z")
	ctx := t.Open(m.Input("x", onnxFloat, int64(len(x))).Output("y", onnxFloat, int64(len(x))), 0)
	t.Set(ctx, float32T, undefined, x)
	t.Run(ctx)
	got := cmem.As[int8](t.Raw(ctx, 0, 0))
	t.Check(slices.Equal(got, want), "%v becomes %v, want %v", x, got, want)
}

// refusedCount sets more elements than there are: the nearest wrong use of a conversion.
func shortInput(elem int64) func(*T) {
	return func(t *T) {
		t.Bad("inputs_set", t.Open(same(elem, 3), 0), 1, []input{t.Given(0, uint8T, undefined, []uint8{1, 2})})
	}
}

// ofConstants is y = x + w[i], or another operator of the constants 5, 6, 7 and i.
func ofConstants(op string, i int64) *model {
	m := (&model{}).Constant("w", onnxFloat, rknn.RealBytes(5, 6, 7), 3).Constant("i", onnxInt64, cmem.Bytes([]int64{i}))
	return m.Node(op, "c", "w", "i").Node("Add", "y", "x", "c").Input("x", onnxFloat, 2).Output("y", onnxFloat, 2)
}

// neverComputes demands that models are refused, or that no run of them has a result, with the name of the node.
func (t *T) neverComputes(node string, models ...*model) {
	for _, m := range models {
		ctx, b := new(uintptr), m.Bytes()
		if t.Code("init", ctx, b, len(b), 0, nil) != success {
			t.Says(node)
			continue
		}
		t.Owned(*ctx)
		for range 2 {
			t.Set(*ctx, float32T, undefined, []float32{1, 2})
			t.Is(failed, "run", *ctx, nil)
			t.Says(node)
		}
	}
	t.Judged(false)
}

// random are the numbers of the first run of a context.
func (t *T) random(op string, seed float32) []float32 {
	m := (&model{}).Op(op, []string{"y"}, []string{"x"}, rknn.Attrs{"seed": seed})
	ctx := t.Open(m.Input("x", onnxFloat, 64).Output("y", onnxFloat, 64), 0)
	t.Set(ctx, float32T, undefined, make([]float32, 64))
	t.Run(ctx)
	return slices.Clone(cmem.As[float32](t.Raw(ctx, 0, 1)))
}

// storing is y = x by way of a value that is stored in whole numbers.
func storing() *model {
	m := (&model{}).Node("Neg", "a", "x").Node("Neg", "y", "a").Input("x", onnxFloat, 2).Output("y", onnxFloat, 2)
	return m.Meta("anynpu.value.a.stored", map[string]any{"type": "int8", "scale": 1, "zero": 3})
}

// storedGives demands output 0 for 1.375 and -3.25.
func (t *T) storedGives(m *model, want ...float32) {
	ctx := t.Open(m, 0)
	t.Set(ctx, float32T, undefined, []float32{1.375, -3.25})
	t.Run(ctx)
	got := cmem.As[float32](t.Raw(ctx, 0, 1))
	t.Check(slices.Equal(got, want), "got %v, want %v", got, want)
}

var choices = []*Rule{
	rule("11.a_rounding_of_codes", "q = clamp(rint(v / scale) + zp), halves to even, saturating").
		OK("halves", func(t *T) {
			t.codes(0.5, 0, []float32{0.25, 0.75, 1.25, -0.25, -0.75, 1e9, -1e9}, []int8{0, 2, 2, 0, -2, 127, -128})
		}).
		OK("zero_point", func(t *T) { t.codes(0.5, -10, []float32{0.25, 0.75, 1.5, -60}, []int8{-10, -8, -7, -128}) }).
		No("short", shortInput(onnxFloat)),
	rule("11.ac_constants",
		"what a model computes of constants alone is there in every run; what cannot be computed is refused "+
			"when the model is loaded or by each run, with the node's name").
		OK("computed", func(t *T) {
			ctx := t.Open(ofConstants("Gather", 2), 0)
			for range 2 {
				t.Set(ctx, float32T, undefined, []float32{1, 2})
				t.Computes(ctx, 8, 9)
			}
		}).
		No("no_such_element", func(t *T) { t.neverComputes("node_c", ofConstants("Gather", 3), ofConstants("Gather", -4)) }).
		No("division_by_zero", func(t *T) {
			m := (&model{}).Constant("w", onnxInt32, cmem.Bytes([]int32{5, 6}), 2).Constant("i", onnxInt32,
				cmem.Bytes([]int32{1, 0}), 2)
			m.Node("Div", "d", "w", "i").Op("Cast", []string{"c"}, []string{"d"}, rknn.Attrs{"to": onnxFloat}).Node("Add",
				"y", "x", "c")
			t.neverComputes("node_d", m.Input("x", onnxFloat, 2).Output("y", onnxFloat, 2))
		}),
	rule("11.ad_seeds", "random numbers with a seed are the same in every context, those of another seed are others").
		OK("given", func(t *T) {
			for _, op := range []string{"RandomNormalLike", "RandomUniformLike"} {
				a, b, c := t.random(op, 3.5), t.random(op, 3.5), t.random(op, 4.5)
				t.Check(slices.Equal(a, b), "%s: %v and %v of one seed", op, a[:4], b[:4])
				t.Check(!slices.Equal(a, c), "%s: two seeds give %v", op, a[:4])
			}
		}).
		No("no_number", func(t *T) {
			m := (&model{}).Op("RandomNormalLike", []string{"y"}, []string{"x"}, rknn.Attrs{"seed": "three"})
			t.refusedModel(m.Input("x", onnxFloat, 2).Output("y", onnxFloat, 2).Bytes())
		}),
	rule("11.ab_boards_without_products", "a board that multiplies no matrices fails to make a product of any type").
		OK("another_board", func(t *T) { t.Create(small(2)) }).
		No("every_type", func(t *T) {
			for kind := range rknn.ProductKinds {
				ctx, i := uintptr(4711), small(kind)
				t.Is(failed, "matmul_create", &ctx, &i, &ioAttr{})
				t.Check(ctx == 4711, "the context was changed to %#x", ctx)
			}
		}).With(rknn.On("rv1106")),
	rule("11.aa_stored_values",
		"a value that the metadata say is stored in codes is rounded to them, unless the setting forbids "+
			"it or the model quantizes by itself").
		OK("rounded", func(t *T) { t.storedGives(storing(), 1, -3) }).
		OK("forbidden", func(t *T) { t.storedGives(storing(), 1.375, -3.25) }).With("ANYNPU_RKNN_QUANTIZE=off").
		OK("by_itself", func(t *T) {
			m := storing().Constant("s", onnxFloat, rknn.RealBytes(0.25)).Constant("z", onnxInt8, []byte{0})
			m.Node("QuantizeLinear", "q", "x", "s", "z").Node("DequantizeLinear", "r", "q", "s", "z").Node("Abs", "w", "r")
			t.storedGives(m.Output("w", onnxFloat, 2), 1.375, -3.25)
		}).
		No("no_codes", func(t *T) {
			b := (&model{}).Node("Neg", "a", "x").Node("Neg", "y", "a").Meta("anynpu.value.a.stored",
				map[string]any{"type": "int7"})
			t.refusedModel(b.Input("x", onnxFloat, 2).Output("y", onnxFloat, 2).Bytes())
		}),
	rule("11.b_nan_becomes_zero_point", "NaN is quantized to zp, infinities saturate").
		OK("nan", func(t *T) {
			t.codes(0.5, -10, []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))},
				[]int8{-10, 127, -128})
		}).
		No("short", shortInput(onnxFloat)),
	rule("11.c_codes_of_reals", "INT8 and UINT8 sources: INT8 into int8 is taken as codes, UINT8 is a number").
		OK("both", func(t *T) {
			ctx := t.Open(quantized(0.5, 0, 1, 2), 0)
			t.Set(ctx, int8T, undefined, []int8{10, 20})
			t.Computes(ctx, 5, 10)
			t.Set(ctx, uint8T, undefined, []uint8{10, 20})
			t.Computes(ctx, 10, 20)
		}).
		No("short", func(t *T) {
			t.Bad("inputs_set", t.Open(quantized(0.5, 0, 1, 2), 0), 1, []input{t.Given(0, int8T, undefined, []int8{10})})
		}),
	rule("11.d_to_half", "reals become half precision to nearest even, overflow infinity, subnormals kept").
		OK("numbers", func(t *T) {
			ctx := t.Open(same(onnxHalf, 6), 0)
			t.Set(ctx, float32T, undefined, []float32{2049, 2051, 65519, 65520, 1.0 / (1 << 24), -1e9})
			t.Computes(ctx, 2048, 2052, 65504, float32(math.Inf(1)), 1.0/(1<<24), float32(math.Inf(-1)))
		}).
		No("short", shortInput(onnxHalf)),
	rule("11.e_between_integers", "integers saturate").
		OK("saturate", func(t *T) {
			ctx := t.Open(same(onnxInt32, 4), 0)
			t.Set(ctx, int64T, undefined, []int64{-5, 7, math.MaxInt64, math.MinInt64})
			t.Run(ctx)
			got := cmem.As[int32](t.Raw(ctx, 0, 0))
			t.Check(slices.Equal(got, []int32{-5, 7, math.MaxInt32, math.MinInt32}), "%v", got)
			ctx = t.Open(same(onnxUint8, 3), 0)
			t.Set(ctx, int16T, undefined, []int16{-1, 200, 300})
			t.Run(ctx)
			t.Check(slices.Equal(t.Raw(ctx, 0, 0), []byte{0, 200, 255}), "bytes")
		}).
		No("short", shortInput(onnxInt32)),
	rule("11.f_to_bool", "what is not 0 becomes 1").
		OK("ones", func(t *T) {
			ctx := t.Open(same(onnxBool, 3), 0)
			t.Set(ctx, int8T, undefined, []int8{0, -3, 9})
			t.Run(ctx)
			t.Check(slices.Equal(t.Raw(ctx, 0, 0), []byte{0, 1, 1}), "%v", t.Raw(ctx, 0, 0))
		}).
		OK("fractions", func(t *T) {
			ctx := t.Open(same(onnxBool, 4), 0)
			t.Set(ctx, float32T, undefined, []float32{0.25, -3, 0, -0.5})
			t.Run(ctx)
			t.Check(slices.Equal(t.Raw(ctx, 0, 0), []byte{1, 1, 0, 1}), "%v", t.Raw(ctx, 0, 0))
		}).
		No("short", shortInput(onnxBool)),
	rule("11.g_reals_to_integers", "reals for an integer input are cut off towards zero and saturate; NaN is 0").
		OK("cut", func(t *T) {
			ctx := t.Open(same(onnxInt32, 4), 0)
			t.Set(ctx, float32T, undefined, []float32{-1.9, 1.9, 1e20, float32(math.NaN())})
			t.Run(ctx)
			got := cmem.As[int32](t.Raw(ctx, 0, 0))
			t.Check(slices.Equal(got, []int32{-1, 1, math.MaxInt32, 0}), "%v", got)
		}).
		No("short", shortInput(onnxInt32)),
	rule("11.h_dequantized_with_one_multiply", "(float)(q - zp) x scale, one float32 multiplication").
		OK("every_code", func(t *T) {
			const scale, zero = float32(0.0173), int8(-37)
			var q []int8
			for v := -128; v < 128; v++ {
				q = append(q, int8(v))
			}
			ctx := t.Open(quantized(scale, zero, 256), 0)
			t.Set(ctx, int8T, undefined, q)
			t.Run(ctx)
			for i, got := range t.Floats(ctx) {
				want := float32(max(int32(q[i]), int32(zero))-int32(zero)) * scale
				t.Check(got == want, "code %d is %g, want %g", q[i], got, want)
			}
		}).
		No("short_buffer", func(t *T) {
			b := make([]byte, 15)
			t.refusedOutput(badOutput, output{WantFloat: 1, IsPrealloc: 1, Buf: cmem.First(b), Size: 15})
		}),
	rule("11.i_order_of_codes", "handle first, then NULLs and counts, then index, then sizes, then formats, then the "+
		"state").
		OK("right", openRelu).
		No("handle_before_NULL", func(t *T) { t.Is(badContext, "inputs_set", 0, 0, nil) }).
		No("count_before_index", func(t *T) { t.Bad("inputs_set", t.images(), 2, []input{{Index: 9}, {Index: 9}}) }).
		No("index_before_NULL_buf", func(t *T) { t.Is(badInput, "inputs_set", t.images(), 1, []input{{Index: 9}}) }).
		No("NULL_buf_before_type", func(t *T) { t.Bad("inputs_set", t.images(), 1, []input{{Kind: 99, Format: nchw}}) }).
		No("size_before_format", func(t *T) {
			in := t.Given(0, uint8T, nchw, []uint8{1})
			t.Bad("inputs_set", t.images(), 1, []input{in})
		}).
		No("output_index_before_state", func(t *T) {
			t.Is(badOutput, "outputs_get", t.Open(relu(1, 4), 0), 1, []output{{Index: 9, IsPrealloc: 1}}, nil)
		}),
	rule("11.j_unknown_flag_bits", "bits that no header names are ignored in flag and in alloc_flags").
		OK("ignored", func(t *T) {
			ctx := t.Open(relu(1, 4), 0xfff00000)
			t.OwnedMem(t.Ptr("create_mem2", ctx, uint64(64), uint64(1)<<63))
			t.works(ctx)
		}).
		No("known_ones_count", func(t *T) { t.Is(failed, "run", t.Open(relu(1, 4), 0xfff00000|flagInfoOnly), nil) }),
	rule("11.ja_padding_is_not_read", "padding, reserved bytes and fields that a call does not use may hold anything").
		OK("garbage", func(t *T) {
			in := []input{t.Given(0, uint8T, nhwc, image)}
			b := cmem.Span[byte](cmem.First(in), 32)
			for _, i := range []int{4, 5, 6, 7, 21, 22, 23} {
				b[i] = 0xaa
			}
			ctx := t.images()
			t.OK("inputs_set", ctx, 1, in)
			t.Computes(ctx, planes...)
			a := *t.Attr(ctx, queryInput, 0)
			a.Fl, a.Zp, a.Scale, a.Qnt, a.Size, a.SizeWithStride, a.WStride = 9, 99, -1, 99, 1<<31, 1<<31, 77
			t.OK("set_io_mem", ctx, cmem.Address(t.Mem(ctx, 24)), &a)
			e := initExtend{FD: -1431655766, BufferFlags: 0xaaaaaaaa}
			t.works(t.OpenWith(relu(1, 4), 0, &e))
		}).
		No("used_fields_count", func(t *T) {
			ctx := t.images()
			a := *t.Attr(ctx, queryInput, 0)
			a.Kind = 99
			t.Bad("set_io_mem", ctx, cmem.Address(t.Mem(ctx, 24)), &a)
		}),
	rule("11.k_same_name_twice", "a name that an input and an output share is told apart by index and n_elems, inputs "+
		"first").
		OK("input", func(t *T) {
			m := (&model{}).Node("Relu", "y", "x").Input("x", onnxFloat, 1, 4).Output("x", onnxFloat, 1, 4).Output("y",
				onnxFloat, 1, 4)
			ctx := t.Open(m, 0)
			x := t.Mem(ctx, 16)
			rknn.Fill[float32](x, -1, 2, -3, 4)
			t.Bind(ctx, x, t.Attr(ctx, queryInput, 0), float32T, -1)
			t.Run(ctx)
			got := cmem.As[float32](t.Raw(ctx, 1, 1))
			t.Check(slices.Equal(got, []float32{0, 2, 0, 4}), "%v", got)
		}).
		No("neither", func(t *T) {
			m := (&model{}).Node("Relu", "y", "x").Input("x", onnxFloat, 1, 4).Output("x", onnxFloat, 1, 4).Output("y",
				onnxFloat, 1, 4)
			ctx := t.Open(m, 0)
			a := *t.Attr(ctx, queryInput, 0)
			a.Elems = 9
			t.Bad("set_io_mem", ctx, cmem.Address(t.Mem(ctx, 64)), &a)
		}),
	rule("11.l_destroy_waits", "rknn_destroy waits for a run in progress").
		OK("waits", func(t *T) {
			ctx := t.Open(relu(1, 64, 128, 128), 0)
			t.Set(ctx, int8T, nhwc, make([]int8, 64*128*128))
			t.parallel(2, func(own *T, i int) {
				if i == 0 {
					c := own.Code("run", ctx, nil)
					own.Check(c == 0 || c == badContext, "rknn_run: %s", rknn.API.CodeName(c))
					return
				}
				own.OK("destroy", ctx)
			})
			t.Judged(true)
		}).
		No("ended", func(t *T) {
			ctx := t.Open(relu(1, 4), 0)
			t.OK("destroy", ctx)
			t.Is(badContext, "run", ctx, nil)
		}),
	rule("11.m_results_in_bound_memory", "rknn_outputs_get of a bound output gives the result that lies in its memory").
		OK("same", func(t *T) {
			ctx := t.Open(quantized(0.5, 0, 1, 4), 0)
			y := t.Mem(ctx, 4)
			t.Bind(ctx, y, t.Attr(ctx, queryOutput, 0), -1, -1)
			t.Set(ctx, int8T, undefined, []int8{2, -4, 6, 8})
			t.Computes(ctx, 1, 0, 3, 4)
			t.Check(slices.Equal(cmem.As[int8](y.Bytes()), []int8{2, 0, 6, 8}), "%v", cmem.As[int8](y.Bytes()))
		}).
		No("before_a_run", func(t *T) {
			ctx := t.Open(relu(1, 4), 0)
			t.Bind(ctx, t.Mem(ctx, 16), t.Attr(ctx, queryOutput, 0), -1, -1)
			t.Is(failed, "outputs_get", ctx, 1, []output{{}}, nil)
		}),
	rule("11.n_model_file_may_go", "a model's file may be removed or replaced while a context lives").
		OK("removed", func(t *T) {
			path, ctx := t.file("m.onnx", add(1, 2).Bytes()), new(uintptr)
			t.OK("init", ctx, path, 0, 0, nil)
			t.Owned(*ctx)
			t.file("m.onnx", []byte("gone"))
			d := t.Dup(*ctx)
			t.OK("inputs_set", d, 2, []input{t.Given(0, float32T, undefined, []float32{1, 2}), t.Given(1, float32T, undefined,
				[]float32{3, 4})})
			t.Computes(d, 4, 6)
		}).
		No("replaced", func(t *T) {
			t.Is(badModel, "init", new(uintptr), t.file("m.onnx", []byte("gone")), 0, 0, nil)
		}),
}
