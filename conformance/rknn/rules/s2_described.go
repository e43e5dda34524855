package rules

import (
	"slices"

	"github.com/anynpu/anynpu/conformance/rknn"
	vendor "github.com/anynpu/anynpu/core/format/rknn"
	"github.com/anynpu/anynpu/core/format/rknn/rknntest"
)

// compiled is a file for y = max(x, 0) of real numbers in these sizes.
func compiled(dims ...int64) *vendor.File {
	port := func(name string) vendor.Port { return vendor.Port{Name: name, Type: "float16", Dims: dims} }
	tensor := func(name string, kind vendor.Kind) vendor.Tensor {
		return vendor.Tensor{Name: name, Type: "float16", Kind: kind, Dims: dims}
	}
	return &vendor.File{Version: rknntest.Main, Targets: []string{"rk3588"}, Compiler: "2.3.2",
		Inputs: []vendor.Port{port("x")}, Outputs: []vendor.Port{port("y")},
		Graphs: []vendor.Graph{{Inputs: []int{0}, Outputs: []int{1},
			Tensors: []vendor.Tensor{tensor("x", vendor.Input), tensor("y", vendor.Output)}}}}
}

// coded is a tensor in int8.
func coded(name string, kind vendor.Kind, scale float32, zero int64, dims ...int64) vendor.Tensor {
	return vendor.Tensor{Name: name, Type: "int8", Kind: kind, Dims: dims, Scale: []float32{scale}, Zero: []int64{zero}}
}

// described makes a context of a file with the ONNX model that stands for it beside it.
func (t *T) described(f *vendor.File, m *model) uintptr {
	ctx, path := new(uintptr), t.file("net.rknn", rknntest.Write(f))
	t.file("net.onnx", m.Bytes())
	t.OK("init", ctx, path, 0, 0, nil)
	return t.Owned(*ctx)
}

// shaped demands the dims of input 0.
func (t *T) shaped(ctx uintptr, want ...uint32) {
	got := t.Attr(ctx, queryInput, 0).Shape()
	t.Check(slices.Equal(got, want), "dims %v of input 0, want %v", got, want)
}

// chain is y = 2 max(-x, 0) with the inner values a and b.
func chain() *model {
	m := (&model{}).Node("Neg", "a", "x").Node("Relu", "b", "a").Node("Add", "y", "b", "b")
	return m.Input("x", onnxFloat, 1, 4).Output("y", onnxFloat, 1, 4)
}

// halves is y = p + q for the halves p and q of x, results of one node.
func halves() *model {
	m := (&model{}).Op("Split", []string{"p", "q"}, []string{"x"}, rknn.Attrs{"axis": 1}).Node("Add", "y", "p", "q")
	m.Inner("p", onnxFloat, 1, 2).Inner("q", onnxFloat, 1, 2)
	return m.Input("x", onnxFloat, 1, 4).Output("y", onnxFloat, 1, 2)
}

var described = []*Rule{
	rule("2.fc_what_a_file_says", "mean and deviation, batch, sizes, layout, custom string and target in a compiled "+
		"model's file hold for the ONNX model beside it, whose own metadata win").
		Ours("an ONNX model beside a compiled one is loaded in its place").
		OK("mean_and_std", func(t *T) {
			f := compiled(1, 3, 1, 2)
			f.Preprocess = map[string]vendor.Preprocess{"x": {Mean: []float64{120, 110, 100}, Std: []float64{60, 50, 40}}}
			ctx := t.described(f, relu(1, 3, 1, 2))
			t.Set(ctx, uint8T, nhwc, []uint8{180, 210, 60, 0, 85, 180})
			t.Computes(ctx, 1, 0, 2, 0, 0, 2)
		}).
		OK("one_mean_for_all_channels", func(t *T) {
			f := compiled(1, 3, 1, 2)
			f.Preprocess = map[string]vendor.Preprocess{"x": {Mean: []float64{10, 10, 10}, Std: []float64{2, 2, 2}}}
			ctx := t.described(f, relu(1, 3, 1, 2))
			t.Set(ctx, uint8T, nhwc, []uint8{8, 10, 12, 14, 16, 18})
			t.Computes(ctx, 0, 2, 0, 3, 1, 4)
		}).
		OK("mean_alone", func(t *T) {
			f := compiled(1, 4)
			f.Preprocess = map[string]vendor.Preprocess{"x": {Mean: []float64{3}}}
			ctx := t.described(f, relu(1, 4))
			t.Set(ctx, uint8T, undefined, []uint8{1, 3, 5, 7})
			t.Computes(ctx, 0, 0, 2, 4)
		}).
		OK("batch", func(t *T) {
			f := compiled(1, 4)
			f.Batch = 2
			ctx := t.described(f, relu(1, 4))
			t.shaped(ctx, 2, 4)
			t.Set(ctx, float32T, undefined, []float32{-1, 2, -3, 4, 5, -6, 7, -8})
			t.Computes(ctx, 0, 2, 0, 4, 5, 0, 7, 0)
		}).
		OK("open_sizes", func(t *T) { t.shaped(t.described(compiled(3, 4), relu(-1, 4)), 3, 4) }).
		OK("sizes_of_the_model", func(t *T) {
			t.shaped(t.described(compiled(3, 4), relu(-1, 4).Meta("anynpu.dim.n1", 2)), 2, 4)
		}).
		OK("shapes", func(t *T) {
			f := compiled(1, 2, 2, 3)
			list := [][]int64{{1, 2, 2, 3}, {1, 2, 4, 3}}
			f.DynamicShapes, f.Graphs = map[string][][]int64{"x": list, "y": list}, nil
			r := inputRange{}
			t.OK("query", t.described(f, relu(1, 2, -1, 3)), queryRange, &r, structSizeRange)
			t.Check(r.Shapes == 2 && slices.Equal(r.Dims[0][:4], []uint32{1, 2, 3, 2}) &&
				slices.Equal(r.Dims[1][:4], []uint32{1, 4, 3, 2}), "%d shapes, %v and %v", r.Shapes, r.Dims[0][:4], r.Dims[1][:4])
		}).
		OK("layout", func(t *T) {
			f := compiled(1, 2, 2, 3)
			f.Graphs[0].Tensors[0].Shape = []int64{1, 2, 2, 3}
			a := t.Attr(t.described(f, relu(1, 2, 2, 3)), queryInput, 0)
			t.Check(a.Format == nchw && slices.Equal(a.Shape(), []uint32{1, 2, 2, 3}), "dims %v in format %d", a.Shape(),
				a.Format)
		}).
		OK("custom_string", func(t *T) {
			f, text := compiled(1, 4), make([]byte, 1024)
			f.Custom = "ten labels"
			t.OK("query", t.described(f, relu(1, 4)), queryString, text, len(text))
			t.Check(rknn.TextOf(text) == "ten labels", "%q", rknn.TextOf(text))
		}).
		OK("target", func(t *T) {
			f := compiled(1, 17, 4, 5)
			f.Targets = []string{"rk3566"}
			f.Graphs[0].Tensors[1] = coded("y", vendor.Output, 0.5, 0, 1, 17, 4, 5)
			got := t.Attr(t.described(f, relu(1, 17, 4, 5)), queryNativeOutput, 0).Shape()
			t.Check(slices.Equal(got, []uint32{1, 3, 4, 5, 8}), "dims %v", got)
		}).
		OK("metadata_of_the_model", func(t *T) {
			f, text := compiled(1, 4), make([]byte, 1024)
			f.Custom = "ten labels"
			f.Preprocess = map[string]vendor.Preprocess{"x": {Mean: []float64{3}, Std: []float64{2}}}
			ctx := t.described(f, relu(1, 4).Meta("anynpu.custom_string", "its own").Meta("anynpu.input.x.mean", []int{1}))
			t.OK("query", ctx, queryString, text, len(text))
			t.Check(rknn.TextOf(text) == "its own", "%q", rknn.TextOf(text))
			t.Set(ctx, uint8T, undefined, []uint8{0, 1, 3, 5})
			t.Computes(ctx, 0, 0, 1, 2)
		}).
		No("alone", func(t *T) {
			t.Is(badModel, "init", new(uintptr), t.file("net.rknn", rknntest.Write(compiled(1, 4))), 0, 0, nil)
		}),
	rule("2.fd_codes_of_a_file", "where a compiled model's file has a tensor in int8, the ONNX model beside it computes "+
		"with its codes; of two with one name the first counts, and a scale that no code can have leaves the tensor real").
		Ours("an ONNX model beside a compiled one is loaded in its place").
		OK("ports", func(t *T) {
			f := compiled(1, 4)
			f.Graphs[0].Tensors = []vendor.Tensor{coded("x", vendor.Input, 0.25, 3, 1, 4),
				coded("y", vendor.Output, 0.5, -128, 1, 4)}
			ctx := t.described(f, relu(1, 4))
			t.wants(ctx, 0, "x", wantAttr{cmd: queryInput, dims: []uint32{1, 4}, kind: int8T, qnt: qntAffine, size: 4, zp: 3,
				scale: 0.25, format: undefined})
			t.wants(ctx, 0, "y", wantAttr{cmd: queryOutput, dims: []uint32{1, 4}, kind: int8T, qnt: qntAffine, size: 4,
				zp: -128, scale: 0.5, format: undefined})
			t.Set(ctx, float32T, undefined, []float32{0.3, 1.4, -2, 100})
			t.Computes(ctx, 0, 1.5, 0, 31)
		}).
		OK("inner", func(t *T) {
			f := compiled(1, 4)
			f.Graphs[0].Tensors = append(f.Graphs[0].Tensors, coded("a", vendor.Intermediate, 1, 0, 1, 4))
			ctx := t.described(f, chain())
			t.Set(ctx, float32T, undefined, []float32{-1.25, -1.75, 2, -200})
			t.Computes(ctx, 2, 4, 0, 254)
		}).
		OK("a_copy_stands_for_it", func(t *T) {
			f := compiled(1, 4)
			f.Graphs[0].Tensors = append(f.Graphs[0].Tensors, coded("a-rs", vendor.Intermediate, 1, 0, 1, 4))
			ctx := t.described(f, chain())
			t.Set(ctx, float32T, undefined, []float32{-1.25, -1.75, 2, -200})
			t.Computes(ctx, 2, 4, 0, 254)
		}).
		OK("the_first_of_two", func(t *T) {
			f := compiled(1, 4)
			f.Graphs[0].Tensors = append(f.Graphs[0].Tensors, coded("a-rs", vendor.Intermediate, 1, 0, 1, 4),
				coded("a__int8", vendor.Intermediate, 4, 0, 1, 4))
			ctx := t.described(f, chain())
			t.Set(ctx, float32T, undefined, []float32{-1.25, -1.75, 2, -200})
			t.Computes(ctx, 2, 4, 0, 254)
		}).
		OK("sums_of_a_joined_operand", func(t *T) {
			// a = max(x, 0), b = -x, y = 2 a0 + 3 a1 + b0 + 5 b1 + 1: the sum over a has codes of its own
			m := (&model{}).Node("Relu", "a", "x").Node("Neg", "b", "x")
			m.Op("Concat", []string{"c"}, []string{"a", "b"}, rknn.Attrs{"axis": 1}).Node("Conv", "y", "c", "w", "k")
			m.Constant("w", onnxFloat, rknn.RealBytes(2, 3, 1, 5), 1, 4, 1, 1).Constant("k", onnxFloat, rknn.RealBytes(1), 1)
			m.Input("x", onnxFloat, 1, 2, 1, 2).Output("y", onnxFloat, 1, 1, 1, 2)
			f := compiled(1, 2, 1, 2)
			f.Outputs[0].Dims = []int64{1, 1, 1, 2}
			f.Graphs[0].Tensors = []vendor.Tensor{coded("x", vendor.Input, 1, 0, 1, 2, 1, 2),
				coded("y", vendor.Output, 1, 0, 1, 1, 1, 2), coded("a", vendor.Intermediate, 1, 0, 1, 2, 1, 2),
				coded("b", vendor.Intermediate, 1, 0, 1, 2, 1, 2), coded("c", vendor.Intermediate, 1, 0, 1, 4, 1, 2),
				coded("a_conv", vendor.Intermediate, 4, 0, 1, 1, 1, 2)}
			ctx := t.described(f, m)
			t.Set(ctx, float32T, nhwc, []float32{5, 1, 3, 3})
			t.Computes(ctx, 12-5-5+1, 16-3-15+1) // 13 and 15 become 12 and 16
		}).
		OK("what_is_added_to_sums", func(t *T) {
			// columns of 256 codes of 1 and of 1/2: 1.75 is 2 of the first and 0.3 one of the second
			w, k := rknn.RealBytes(255, 0, 1, 127.5), rknn.RealBytes(1.75, 0.3)
			together := (&model{}).Node("Gemm", "y", "x", "w", "k")
			apart := (&model{}).Node("MatMul", "p", "x", "w").Node("Add", "y", "p", "k")
			before := (&model{}).Node("MatMul", "p", "x", "w").Node("Add", "y", "k", "p")
			for i, m := range []*model{together, apart, before} {
				m.Constant("w", onnxFloat, w, 2, 2).Constant("k", onnxFloat, k, 2)
				f := compiled(1, 2)
				f.Graphs[0].Tensors[0] = coded("x", vendor.Input, 1, 0, 1, 2)
				ctx := t.described(f, m.Input("x", onnxFloat, 1, 2).Output("y", onnxFloat, 1, 2))
				t.Set(ctx, float32T, undefined, []float32{1, 2})
				t.Run(ctx)
				got, want := t.Floats(ctx), []float32{255 + 2 + 2, 255 + 0.5}
				t.Check(slices.Equal(got, want), "model %d: %v, want %v", i, got, want)
			}
		}).
		OK("first_step_of_a_mean", func(t *T) {
			m := (&model{}).Node("GlobalAveragePool", "y", "x").Input("x", onnxFloat, 1, 1, 2, 2)
			f := compiled(1, 1, 2, 2)
			f.Outputs[0].Dims = []int64{1, 1, 1, 1}
			f.Graphs[0].Tensors = []vendor.Tensor{coded("x", vendor.Input, 1, 0, 1, 1, 2, 2),
				coded("y", vendor.Output, 1, 0, 1, 1, 1, 1), coded("node_y_2conv0", vendor.Intermediate, 4, 0, 1, 1, 1, 1)}
			ctx := t.described(f, m.Output("y", onnxFloat, 1, 1, 1, 1))
			t.Set(ctx, float32T, nhwc, []float32{1, 2, 4, 6})
			t.Computes(ctx, 4) // 13 / 2 becomes 8, of which half
		}).
		OK("no_scale", func(t *T) {
			for _, scale := range []float32{0, -1} {
				f := compiled(1, 4)
				f.Graphs[0].Tensors[0] = coded("x", vendor.Input, scale, 0, 1, 4)
				ctx := t.described(f, relu(1, 4))
				t.Check(t.Attr(ctx, queryInput, 0).Kind == float16T, "scale %g", scale)
				t.Set(ctx, float32T, undefined, []float32{0.3125, -1, 2, 1000})
				t.Computes(ctx, 0.3125, 0, 2, 1000)
			}
		}).
		OK("another_rank", func(t *T) {
			f := compiled(1, 3, 2, 4)
			f.Graphs[0].Tensors = []vendor.Tensor{coded("x", vendor.Input, 1, 0, 1, 3, 2, 4),
				coded("y", vendor.Output, 1, 0, 1, 3, 2, 4)}
			ctx := t.described(f, relu(1, 24))
			t.wants(ctx, 0, "x", wantAttr{cmd: queryInput, dims: []uint32{1, 2, 4, 3}, format: nhwc, kind: int8T,
				qnt: qntAffine, size: 24, wStride: 4, scale: 1})
			t.wants(ctx, 0, "y", wantAttr{cmd: queryOutput, dims: []uint32{1, 3, 2, 4}, format: nchw, kind: int8T,
				qnt: qntAffine, size: 24, withStride: 16 * 8, scale: 1})
			pixels, want := make([]float32, 24), make([]float32, 24)
			for i := range pixels {
				pixels[i] = float32(i)
				want[i%3*8+i/3] = float32(i)
			}
			t.Set(ctx, float32T, nhwc, pixels)
			t.Computes(ctx, want...)
		}).
		No("of_no_model", func(t *T) {
			f := compiled(1, 4)
			f.Graphs[0].Tensors = []vendor.Tensor{coded("x", vendor.Input, 0.25, 3, 1, 4),
				coded("y", vendor.Output, 0.5, 0, 1, 4)}
			t.refusedModel(rknntest.Write(f))
		}),
	rule("2.fe_inner_values", "a compiled model whose inputs or outputs are inner values of the ONNX model beside it, or "+
		"metadata that name such, begin or end the model there; inputs that are still needed follow").
		Ours("an ONNX model beside a compiled one is loaded in its place").
		OK("begins_with_one", func(t *T) {
			f := compiled(1, 4)
			f.Inputs[0].Name, f.Graphs = "a", nil
			ctx := t.described(f, chain())
			t.shaped(ctx, 1, 4)
			t.Set(ctx, float32T, undefined, []float32{-1, 2, -3, 4})
			t.Computes(ctx, 0, 4, 0, 8)
		}).
		OK("ends_with_one", func(t *T) {
			f := compiled(1, 4)
			f.Outputs[0].Name, f.Graphs = "b", nil
			ctx := t.described(f, chain())
			t.Set(ctx, float32T, undefined, []float32{-1, 2, -3, 4})
			t.Computes(ctx, 1, 0, 3, 0)
		}).
		OK("in_another_order", func(t *T) {
			f := compiled(1, 4)
			f.Outputs, f.Graphs = []vendor.Port{{Name: "y", Dims: []int64{1, 4}}, {Name: "a", Dims: []int64{1, 4}}}, nil
			ctx := t.described(f, chain().Output("a", onnxFloat, 1, 4).Output("b", onnxFloat, 1, 4))
			n := inOutNum{}
			t.OK("query", ctx, queryInOutNum, &n, 8)
			t.Check(n == inOutNum{In: 1, Out: 2}, "%v", n)
			for i, name := range []string{"y", "a"} {
				a := t.Attr(ctx, queryOutput, i)
				t.Check(rknn.TextOf(a.Name[:]) == name, "output %d is %q, want %q", i, rknn.TextOf(a.Name[:]), name)
			}
		}).
		OK("metadata", func(t *T) {
			m := chain().Inner("a", onnxFloat, 1, 4).Meta("anynpu.inputs", []string{"a"})
			m.Meta("anynpu.outputs", []string{"b"})
			ctx, n := t.Open(m, 0), inOutNum{}
			t.OK("query", ctx, queryInOutNum, &n, 8)
			t.Check(n == inOutNum{In: 1, Out: 1}, "%v", n)
			t.Set(ctx, float32T, undefined, []float32{-1, 2, -3, 4})
			t.Computes(ctx, 0, 2, 0, 4)
		}).
		OK("one_result_of_several", func(t *T) {
			ctx, n := t.Open(halves().Meta("anynpu.inputs", []string{"p"}), 0), inOutNum{}
			t.OK("query", ctx, queryInOutNum, &n, 8)
			t.Check(n == inOutNum{In: 2, Out: 1}, "%v", n)
			for i, name := range []string{"p", "x"} {
				a := t.Attr(ctx, queryInput, i)
				t.Check(rknn.TextOf(a.Name[:]) == name, "input %d is %q, want %q", i, rknn.TextOf(a.Name[:]), name)
			}
			t.OK("inputs_set", ctx, 2, []input{t.Given(0, float32T, undefined, []float32{100, 200}),
				t.Given(1, float32T, undefined, []float32{1, 2, 3, 4})})
			t.Computes(ctx, 103, 204)
		}).
		OK("an_open_size_of_an_inner_value", func(t *T) {
			m := chain().Meta("anynpu.inputs", []string{"a"}).Meta("anynpu.input.a.shape", []int{1, 4})
			ctx := t.Open(m, 0)
			t.shaped(ctx, 1, 4)
			t.Set(ctx, float32T, undefined, []float32{-1, 2, -3, 4})
			t.Computes(ctx, 0, 4, 0, 8)
		}).
		No("no_such_value", func(t *T) {
			for _, key := range []string{"anynpu.inputs", "anynpu.outputs"} {
				t.refusedModel(chain().Meta(key, []string{"nowhere"}).Bytes())
				t.Says("nowhere")
			}
		}),
}
