package rules

import (
	"slices"

	"github.com/anynpu/anynpu/conformance/rknn"
)

// wantAttr are the attributes that a query must give, but for name and index.
type wantAttr struct {
	cmd                 int
	dims                []uint32
	format, kind, qnt   uint32
	size                int
	wStride, withStride int // withStride 0: equal to size
	zp                  int32
	scale               float32
	elemsAreGiven       bool
	elems               int
}

func (t *T) wants(ctx uintptr, index int, name string, w wantAttr) {
	a := t.Attr(ctx, w.cmd, index)
	n := rknn.Count(w.dims)
	if w.elemsAreGiven {
		n = w.elems
	}
	stride := w.size
	if w.withStride != 0 {
		stride = w.withStride
	}
	t.Check(slices.Equal(a.Shape(), w.dims) && a.Format == w.format, "command %d: dims %v in format %d, want %v in %d",
		w.cmd, a.Shape(), a.Format, w.dims, w.format)
	for _, d := range a.Dims[a.Rank:] {
		t.Check(d == 0, "command %d: dims beyond n_dims: %v", w.cmd, a.Dims)
	}
	t.Check(a.Kind == w.kind && a.Qnt == w.qnt && a.Zp == w.zp && a.Scale == w.scale,
		"command %d: type %d, qnt_type %d, zp %d, scale %g, want %+v", w.cmd, a.Kind, a.Qnt, a.Zp, a.Scale, w)
	t.Check(int(a.Elems) == n && int(a.Size) == w.size, "command %d: n_elems %d, size %d, want %d and %d", w.cmd, a.Elems,
		a.Size, n, w.size)
	t.Check(int(a.WStride) == w.wStride, "command %d: w_stride %d, want %d", w.cmd, a.WStride, w.wStride)
	t.Check(int(a.SizeWithStride) == stride, "command %d: size_with_stride %d, want %d", w.cmd, a.SizeWithStride, stride)
	t.Check(rknn.TextOf(a.Name[:]) == name && a.Fl == 0 && a.PassThrough == 0 && a.HStride == 0,
		"command %d: name %q, fl %d, pass_through %d, h_stride %d", w.cmd, rknn.TextOf(a.Name[:]), a.Fl, a.PassThrough,
		a.HStride)
}

// attrRule is a rule about what queries answer, whose negative case is the nearest query that is refused.
func attrRule(id, text string, run func(*T), refused func(*T)) *Rule {
	return rule(id, text).OK("values", run).No("refused", refused)
}

// noIndex asks for a tensor behind the last.
func noIndex(m func() *model, cmd int) func(*T) {
	return func(t *T) { t.Bad("query", t.Open(m(), 0), cmd, &tensorAttr{Index: 1}, 376) }
}

var attributes = []*Rule{
	attrRule("3.ua_image_input", "an int8 image input is NHWC, AFFINE with the model's zp and scale, w_stride its width",
		func(t *T) {
			t.wants(t.Open(quantized(1.0/256, -128, 1, 3, 4, 5), 0), 0, "x",
				wantAttr{cmd: queryInput, dims: []uint32{1, 4, 5, 3}, format: nhwc, kind: int8T, qnt: qntAffine, size: 60,
					wStride: 5, zp: -128, scale: 1.0 / 256})
		}, noIndex(func() *model { return quantized(0.5, 0, 1, 3, 4, 5) }, queryInput)),
	attrRule("3.ub_int8_output", "an int8 output of rank 4 is NCHW; size_with_stride holds the native layout", func(t *T) {
		t.wants(t.Open(quantized(0.5, -3, 1, 3, 4, 5), 0), 0, "y", wantAttr{cmd: queryOutput, dims: []uint32{1, 3, 4, 5},
			format: nchw, kind: int8T, qnt: qntAffine, size: 60, withStride: 16 * 20, zp: -3, scale: 0.5})
	}, noIndex(func() *model { return quantized(0.5, 0, 1, 3, 4, 5) }, queryOutput)),
	attrRule("3.uc_rank_2_output", "a tensor of another rank than 4 is UNDEFINED, in the model's order, without strides",
		func(t *T) {
			t.wants(t.Open(quantized(0.5, 0, 1, 1001), 0), 0, "y", wantAttr{cmd: queryOutput, dims: []uint32{1, 1001},
				format: undefined, kind: int8T, qnt: qntAffine, size: 1001, scale: 0.5})
		}, noIndex(func() *model { return quantized(0.5, 0, 1, 7) }, queryOutput)),
	attrRule("3.ud_reals", "reals are FLOAT16, AFFINE, zp 0, scale 1, two bytes each", func(t *T) {
		ctx := t.Open(relu(1, 3, 4, 5), 0)
		t.wants(ctx, 0, "x", wantAttr{cmd: queryInput, dims: []uint32{1, 4, 5, 3}, format: nhwc, kind: float16T,
			qnt: qntAffine, size: 120, wStride: 5, scale: 1})
		t.wants(ctx, 0, "y", wantAttr{cmd: queryOutput, dims: []uint32{1, 3, 4, 5}, format: nchw, kind: float16T,
			qnt: qntAffine, size: 120, withStride: 20 * 8 * 2, scale: 1})
	}, noIndex(func() *model { return relu(1, 3, 4, 5) }, queryInput)),
	attrRule("3.ue_rank_3_input", "an input of rank 3 is UNDEFINED with w_stride 0", func(t *T) {
		t.wants(t.Open(relu(1, 306, 2), 0), 0, "x", wantAttr{cmd: queryInput, dims: []uint32{1, 306, 2}, format: undefined,
			kind: float16T, qnt: qntAffine, size: 1224, scale: 1})
	}, noIndex(func() *model { return relu(1, 306, 2) }, queryInput)),
	attrRule("3.uf_integers", "int64, int32, uint8 and bool tensors keep their type and are not quantized", func(t *T) {
		for _, c := range []struct {
			elem int64
			kind uint32
		}{{onnxInt64, int64T}, {onnxInt32, int32T}, {onnxBool, boolT}, {onnxUint8, uint8T}, {onnxInt16, int16T}} {
			ctx := t.Open(same(c.elem, 1, 6), 0)
			for _, cmd := range []int{queryInput, queryOutput} {
				t.wants(ctx, 0, map[int]string{queryInput: "x", queryOutput: "y"}[cmd], wantAttr{cmd: cmd, dims: []uint32{1, 6},
					format: undefined, kind: c.kind, qnt: qntNone, size: 6 * rknn.ElemSize(c.kind), scale: 1})
			}
		}
	}, noIndex(func() *model { return same(onnxInt64, 1, 6) }, queryInput)),
	attrRule("3.ug_native_input", "the native input is the general one", func(t *T) {
		ctx := t.Open(quantized(0.5, 0, 1, 3, 4, 5), 0)
		t.Check(*t.Attr(ctx, queryNativeInput, 0) == *t.Attr(ctx, queryInput, 0), "they differ")
	}, noIndex(func() *model { return relu(1, 3, 4, 5) }, queryNativeInput)),
	rule("3.uh_native_output", "the native output of rank 4 is NC1HWC2 of rank 5, all sizes those of the padded shape; "+
		"C2 has 16 bytes, on the smaller boards 8").
		OK("rk3588", func(t *T) {
			t.wants(t.Open(quantized(0.5, 0, 1, 17, 4, 5), 0), 0, "y", wantAttr{cmd: queryNativeOutput,
				dims: []uint32{1, 2, 4, 5, 16}, format: nc1hwc2, kind: int8T, qnt: qntAffine, size: 640, scale: 0.5})
			t.wants(t.Open(relu(1, 17, 4, 5), 0), 0, "y", wantAttr{cmd: queryNativeOutput, dims: []uint32{1, 3, 4, 5, 8},
				format: nc1hwc2, kind: float16T, qnt: qntAffine, size: 960, scale: 1})
			t.wants(t.Open(same(onnxInt32, 1, 5, 4, 5), 0), 0, "y", wantAttr{cmd: queryNativeOutput,
				dims: []uint32{1, 2, 4, 5, 4}, format: nc1hwc2, kind: int32T, qnt: qntNone, size: 640, scale: 1})
		}).
		OK("rk3568", func(t *T) {
			t.wants(t.Open(quantized(0.5, 0, 1, 17, 4, 5), 0), 0, "y", wantAttr{cmd: queryNativeOutput,
				dims: []uint32{1, 3, 4, 5, 8}, format: nc1hwc2, kind: int8T, qnt: qntAffine, size: 480, scale: 0.5})
		}).With(rknn.On("rk3568")).
		No("index", noIndex(func() *model { return relu(1, 3, 4, 5) }, queryNativeOutput)),
	attrRule("3.ui_native_output_of_other_ranks", "the native output of another rank is the general one", func(t *T) {
		ctx := t.Open(relu(1, 306, 2), 0)
		t.Check(*t.Attr(ctx, queryNativeOutput, 0) == *t.Attr(ctx, queryOutput, 0), "they differ")
		t.Check(*t.Attr(ctx, queryNHWCOutput, 0) == *t.Attr(ctx, queryOutput, 0), "they differ in NHWC")
	}, noIndex(func() *model { return relu(1, 306, 2) }, queryNativeOutput)),
	attrRule("3.uj_nhwc_output", "NATIVE_NHWC gives outputs and inputs of rank 4 in NHWC", func(t *T) {
		ctx := t.Open(quantized(0.5, 0, 1, 3, 4, 5), 0)
		t.wants(ctx, 0, "y", wantAttr{cmd: queryNHWCOutput, dims: []uint32{1, 4, 5, 3}, format: nhwc, kind: int8T,
			qnt: qntAffine, size: 60, scale: 0.5})
		t.wants(ctx, 0, "x", wantAttr{cmd: queryNHWCInput, dims: []uint32{1, 4, 5, 3}, format: nhwc, kind: int8T,
			qnt: qntAffine, size: 60, wStride: 5, scale: 0.5})
	}, noIndex(func() *model { return relu(1, 3, 4, 5) }, queryNHWCOutput)),
	attrRule("3.uk_stride_covers_native", "a buffer of size_with_stride of OUTPUT_ATTR holds the general and the native "+
		"layout", func(t *T) {
		for _, dims := range [][]int64{{1, 1, 6, 7}, {2, 17, 3, 3}, {1, 64, 1, 1}, {1, 1000}} {
			ctx := t.Open(quantized(0.5, 0, dims...), 0)
			general, native := t.Attr(ctx, queryOutput, 0), t.Attr(ctx, queryNativeOutput, 0)
			t.Check(general.SizeWithStride >= general.Size && general.SizeWithStride >= native.SizeWithStride,
				"%v: %d, want at least %d and %d", dims, general.SizeWithStride, general.Size, native.SizeWithStride)
		}
	}, noIndex(func() *model { return relu(1, 1, 6, 7) }, queryOutput)),
	attrRule("3.ul_names", "name is that of the ONNX tensor, with any characters, cut off at 255", func(t *T) {
		long := make([]byte, 300)
		for i := range long {
			long[i] = 'n'
		}
		for _, name := range []string{"images", "/model.24/m.0::out", string(long)} {
			m := (&model{}).Node("Relu", "y", name).Input(name, onnxFloat, 1, 4).Output("y", onnxFloat, 1, 4)
			a := t.Attr(t.Open(m, 0), queryInput, 0)
			t.Check(rknn.TextOf(a.Name[:]) == name[:min(len(name), 255)], "name %q", rknn.TextOf(a.Name[:]))
		}
	}, noIndex(func() *model { return relu(1, 4) }, queryInput)),
	attrRule("3.um_layout_of_metadata", "an input of rank 4 that the model's metadata call nchw is NCHW", func(t *T) {
		ctx := t.Open(relu(1, 3, 4, 5).Meta("anynpu.input.x.layout", "nchw"), 0)
		t.wants(ctx, 0, "x", wantAttr{cmd: queryInput, dims: []uint32{1, 3, 4, 5}, format: nchw, kind: float16T,
			qnt: qntAffine, size: 120, scale: 1})
	}, func(t *T) {
		ctx := t.Open(relu(1, 3, 4, 5).Meta("anynpu.input.x.layout", "nchw"), 0)
		t.Is(failed, "inputs_set", ctx, 1, []input{t.Given(0, float32T, nhwc, make([]float32, 60))})
	}),
}
