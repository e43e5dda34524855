package rules

import (
	"slices"

	"github.com/anynpu/anynpu/conformance/rknn"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// customTensors are the rules of what custom operators are given: tensors, attributes, data of their own.
var customTensors = []*Rule{
	rule("8.f_declared_outputs", "the model must declare type and sizes of a foreign operator's outputs").
		OK("declared", func(t *T) {
			m := (&model{}).Custom("Twice", "a", 1, 1, "x").Node("Relu", "y", "a").Inner("a", onnxFloat, 1, 2).Input("x",
				onnxFloat, 1, 2).Output("y", onnxFloat, 1, 2)
			set, ctx := t.opsOf(0, unary(double)), t.Open(m, 0)
			t.OK("register_custom_ops", ctx, set.op("Twice"), 1)
			t.Set(ctx, float32T, undefined, []float32{-1, 2})
			t.Computes(ctx, 0, 4)
		}).
		No("not_declared", func(t *T) {
			t.refusedModel((&model{}).Custom("Twice", "a", 1, 1, "x").Node("Relu", "y", "a").Input("x", onnxFloat, 1,
				2).Output("y", onnxFloat, 1, 2).Bytes())
			t.Says("Twice", "value_info")
		}),
	rule("8.fa_outputs_by_metadata", "what the model does not declare of them the metadata may: sizes and names of open "+
		"dimensions, or as input N; the message names them").
		OK("as_input", func(t *T) {
			m := (&model{}).Custom("Twice", "a", 1, 1, "x").Node("Relu", "y", "a").Input("x", onnxFloat, -1, 2).Output("y",
				onnxFloat, -1, 2)
			m.Meta("anynpu.input.x.shapes", [][]int{{1, 2}, {3, 2}}).Meta("anynpu.value.a.shape", "as input 0")
			set, ctx := t.opsOf(0, unary(double)), t.Open(m, 0)
			t.OK("register_custom_ops", ctx, set.op("Twice"), 1)
			t.Set(ctx, float32T, undefined, []float32{1, -2, 3, -4, 5, -6})
			t.Computes(ctx, 2, 0, 6, 0, 10, 0)
			t.OK("set_input_shapes", ctx, 1, shapeAttr(0, undefined, 1, 2))
			t.Set(ctx, float32T, undefined, []float32{1, -2})
			t.Computes(ctx, 2, 0)
		}).
		OK("sizes_and_names", func(t *T) {
			m := (&model{}).Custom("Sum", "a", 1, 1, "x").Node("Neg", "y", "a").Input("x", onnxFloat, -1, 2).Output("y",
				onnxFloat, -1, 1)
			m.Meta("anynpu.dim.n1", 2).Meta("anynpu.value.a.shape", []any{"n1", 1}).Meta("anynpu.value.a.type", "float32")
			ctx := t.Open(m, 0)
			set := t.opsOf(0, map[stage]func(opCall) int{stageCompute: func(c opCall) int {
				in, out := c.in[0].Floats(), c.out[0].Floats()
				out[0], out[1] = in[0]+in[1], in[2]+in[3]
				return 0
			}})
			t.OK("register_custom_ops", ctx, set.op("Sum"), 1)
			t.Set(ctx, float32T, undefined, []float32{1, 2, 3, 4})
			t.Computes(ctx, -3, -7)
		}).
		No("undeclared", func(t *T) {
			m := (&model{}).Custom("Twice", "a", 1, 1, "x").Node("Relu", "y", "a").Input("x", onnxFloat, 1, 2).Output("y",
				onnxFloat, 1, 2)
			t.refusedModel(m.Bytes())
			t.Says("Twice", "anynpu.value.a.shape")
			t.refusedModel(m.Meta("anynpu.value.a.shape", "as input 1").Bytes())
			t.Says("anynpu.value.a.shape", "input 1 of 1")
		}).
		No("other_names", func(t *T) {
			m := (&model{}).Custom("Twice", "a", 1, 1, "x").Node("Relu", "y", "a").Input("x", onnxFloat, -1, 2).Output("y",
				onnxFloat, -1, 2)
			t.refusedModel(m.Meta("anynpu.value.a.shape", []any{"height", 2}).Bytes())
			t.Says("anynpu.value.a.shape", `"height"`)
		}).
		No("open_dimension", func(t *T) {
			m := (&model{}).Custom("Twice", "a", 1, 1, "x").Node("Relu", "y", "a").Inner("a", onnxFloat, -2, 2).Input("x",
				onnxFloat, 1, 2).Output("y", onnxFloat, 1, 2)
			t.refusedModel(m.Bytes())
			t.Says("float32[n2,2]", "anynpu.value.a.shape", "as input 0")
		}),
	rule("8.fb_several_tensors", "an operator has as many inputs and outputs as its node, in the node's order, of types "+
		"and sizes of their own").
		OK("two_and_three", func(t *T) {
			m := (&model{}).CustomOp("Parts", []string{"sum", "y", "last"}, []string{"a", "b"}, nil).Node("Neg", "z", "last")
			m.Inner("last", onnxFloat, 1, 1).Input("a", onnxFloat, 1, 2).Input("b", onnxFloat, 1, 3)
			m.Output("y", onnxFloat, 1, 5).Output("z", onnxFloat, 1, 1).Output("sum", onnxInt32, 1, 1)
			ctx := t.Open(m, 0)
			set := t.opsOf(0, map[stage]func(opCall) int{stageCompute: func(c opCall) int {
				if len(c.in) != 2 || len(c.out) != 3 || c.out[0].Attr.Kind != int32T {
					return -1
				}
				a, b := c.in[0].Floats(), c.in[1].Floats()
				rknn.Fill(&c.out[0].Mem, int32(a[0]+a[1]+b[0]+b[1]+b[2]))
				copy(c.out[1].Floats(), slices.Concat(a, b))
				c.out[2].Floats()[0] = b[2]
				return 0
			}})
			t.OK("register_custom_ops", ctx, set.op("Parts"), 1)
			t.OK("inputs_set", ctx, 2, []input{t.Given(0, float32T, undefined, []float32{1, 2}),
				t.Given(1, float32T, undefined, []float32{3, 4, 5})})
			t.Computes(ctx, 1, 2, 3, 4, 5)
			z, sum := cmem.As[float32](t.Raw(ctx, 1, 1)), cmem.As[int32](t.Raw(ctx, 2, 0))
			t.Check(z[0] == -5 && sum[0] == 15, "%g and %d, want -5 and 15", z[0], sum[0])
		}).
		No("one_undeclared", func(t *T) {
			m := (&model{}).CustomOp("Parts", []string{"y", "last"}, []string{"x"}, nil).Node("Neg", "z", "last")
			t.refusedModel(m.Input("x", onnxFloat, 1, 2).Output("y", onnxFloat, 1, 2).Output("z", onnxFloat, 1, 1).Bytes())
			t.Says("last")
		}),
	rule("8.g_tensors", "tensors are contiguous, in the model's order, NCHW at rank 4; reals are FLOAT32 whatever the "+
		"model's type").
		OK("described", func(t *T) {
			for _, elem := range []int64{onnxFloat, onnxHalf} {
				var in, out tensorAttr
				var offset, n int
				var got []float32
				f := unary(double)
				compute := f[stageCompute]
				f[stageCompute] = func(c opCall) int {
					in, out, offset, n = c.in[0].Attr, c.out[0].Attr, int(c.in[0].Mem.Size), len(c.in)
					got = slices.Clone(c.in[0].Floats())
					return compute(c)
				}
				m := (&model{}).Custom("Twice", "y", 1, 1, "x").Input("x", elem, 1, 2, 1, 3).Output("y", elem, 1, 2, 1, 3)
				set, ctx := t.opsOf(0, f), t.Open(m, 0)
				t.OK("register_custom_ops", ctx, set.op("Twice"), 1)
				t.Set(ctx, uint8T, nhwc, image)
				t.Computes(ctx, 0, 20, 510, 2, 40, 256)
				for _, a := range []*tensorAttr{&in, &out} {
					t.Check(slices.Equal(a.Shape(), []uint32{1, 2, 1, 3}) && a.Format == nchw && a.Kind == float32T &&
						a.Elems == 6 &&
						a.Size == 24, "%s", describe(a))
				}
				t.Check(n == 1 && offset >= 24 && slices.Equal(got, planes), "%d inputs, %d bytes, %v", n, offset, got)
				t.Check(rknn.TextOf(in.Name[:]) == "x" && rknn.TextOf(out.Name[:]) == "y", "names %q and %q",
					rknn.TextOf(in.Name[:]),
					rknn.TextOf(out.Name[:]))
			}
		}).
		OK("other_ranks", func(t *T) {
			var in tensorAttr
			set, ctx := t.opsOf(0, map[stage]func(opCall) int{stageInit: func(c opCall) int { in = c.in[0].Attr; return 0 }}),
				t.Open(foreign(3, 2), 0)
			t.OK("register_custom_ops", ctx, set.op("Twice"), 1)
			t.Check(slices.Equal(in.Shape(), []uint32{3, 2}) && in.Format == undefined, "%s", describe(&in))
		}).
		No("failing", func(t *T) {
			set, ctx := t.opsOf(0, map[stage]func(opCall) int{stageCompute: func(opCall) int { return -1 }}),
				t.Open(foreign(1, 2), 0)
			t.OK("register_custom_ops", ctx, set.op("Twice"), 1)
			t.Set(ctx, float32T, undefined, []float32{-1, 2})
			t.Is(failed, "run", ctx, nil)
		}),
	rule("8.ga_failed_runs", "a run that an operator fails leaves no results; the next good one does").
		OK("next", func(t *T) {
			n := 0
			f := unary(double)
			compute := f[stageCompute]
			f[stageCompute] = func(c opCall) int {
				if n++; n == 1 {
					return -1
				}
				return compute(c)
			}
			set, ctx := t.opsOf(0, f), t.Open(foreign(1, 2), 0)
			t.OK("register_custom_ops", ctx, set.op("Twice"), 1)
			t.Set(ctx, float32T, undefined, []float32{-1, 2})
			t.Is(failed, "run", ctx, nil)
			t.Computes(ctx, -2, 4)
		}).
		No("no_results", func(t *T) {
			n := 0
			f := unary(double)
			compute := f[stageCompute]
			f[stageCompute] = func(c opCall) int {
				if n++; n == 2 {
					return -7
				}
				return compute(c)
			}
			set, ctx := t.opsOf(0, f), t.Open(foreign(1, 2), 0)
			t.OK("register_custom_ops", ctx, set.op("Twice"), 1)
			t.Set(ctx, float32T, undefined, []float32{-1, 2})
			t.Computes(ctx, -2, 4)
			e := runExtend{Frame: 9}
			t.Is(failed, "run", ctx, &e)
			t.Says("Twice", "-7")
			t.Is(failed, "outputs_get", ctx, 1, []output{{}}, nil)
			t.OK("run", ctx, &e)
			t.Check(e.Frame == 2, "frame_id %d", e.Frame)
			t.Is(badOutput, "outputs_get", ctx, 1, []output{{Index: 1, IsPrealloc: 1}}, nil)
		}),
	rule("8.h_integers", "integer tensors keep their own type").
		OK("int64", func(t *T) {
			var kind uint32
			f := map[stage]func(opCall) int{stageCompute: func(c opCall) int {
				kind = c.in[0].Attr.Kind
				in, out := cmem.Span[int64](c.in[0].Mem.Virt+uintptr(c.in[0].Mem.Offset), 2),
					cmem.Span[int64](c.out[0].Mem.Virt+uintptr(c.out[0].Mem.Offset), 2)
				out[0], out[1] = in[1], in[0]
				return 0
			}}
			m := (&model{}).Custom("Swap", "y", 1, 1, "x").Input("x", onnxInt64, 2).Output("y", onnxInt64, 2)
			set, ctx := t.opsOf(0, f), t.Open(m, 0)
			t.OK("register_custom_ops", ctx, set.op("Swap"), 1)
			t.Set(ctx, int64T, undefined, []int64{5, 1 << 40})
			t.Run(ctx)
			got := cmem.As[int64](t.Raw(ctx, 0, 0))
			t.Check(kind == int64T && slices.Equal(got, []int64{1 << 40, 5}), "type %d, %v", kind, got)
		}).
		No("prepare_fails", func(t *T) {
			f := unary(double)
			f[stagePrepare] = func(opCall) int { return -5 }
			set, ctx := t.opsOf(0, f), t.Open(foreign(1, 2), 0)
			t.OK("register_custom_ops", ctx, set.op("Twice"), 1)
			t.Set(ctx, float32T, undefined, []float32{-1, 2})
			t.Is(failed, "run", ctx, nil)
			t.wantCalls("init", "prepare")
		}),
	rule("8.i_attributes", "attributes are found by name: FLOAT32 and INT64 with their number; one that is not there "+
		"has n_elems 0 and data NULL").
		OK("found", func(t *T) {
			var alpha, beta opAttr
			var a float32
			var b int64
			set, ctx := t.opsOf(0, map[stage]func(opCall) int{stageInit: func(c opCall) int {
				alpha, beta = t.attribute(c.ctx, "alpha"), t.attribute(c.ctx, "beta")
				a, b = *cmem.At[float32](alpha.Data), *cmem.At[int64](beta.Data)
				return 0
			}}), t.Open(foreign(1, 2), 0)
			t.OK("register_custom_ops", ctx, set.op("Twice"), 1)
			t.Check(alpha.Kind == float32T && alpha.NElems == 1 && a == 2.5, "alpha: type %d, %d elements, %g", alpha.Kind,
				alpha.NElems, a)
			t.Check(beta.Kind == int64T && beta.NElems == 1 && b == -7, "beta: type %d, %d elements, %d", beta.Kind,
				beta.NElems,
				b)
		}).
		OK("every_kind", func(t *T) {
			attrs := rknn.Attrs{"real": float32(1.5), "reals": []float32{2.5, -3.5, 4}, "whole": 6, "wholes": []int{7, -8},
				"word":  "nine",
				"words": []string{"ten", "", "twelve"}}
			want := map[string][]byte{"real": rknn.RealBytes(1.5), "reals": rknn.RealBytes(2.5, -3.5, 4),
				"whole":  cmem.Bytes([]int64{6}),
				"wholes": cmem.Bytes([]int64{7, -8}), "word": []byte("nine"), "words": []byte("ten\x00\x00twelve")}
			type told struct {
				name  string
				elems uint32
				data  []byte
			}
			got := map[string]told{}
			set := t.opsOf(0, map[stage]func(opCall) int{stageInit: func(c opCall) int {
				for name := range attrs {
					a := t.attribute(c.ctx, name)
					size := map[uint32]uint32{float32T: 4, int64T: 8, uint8T: 1}[a.Kind]
					got[name] = told{rknn.TextOf(a.Name[:]), a.NElems, slices.Clone(cmem.Span[byte](a.Data, int(a.NElems*size)))}
				}
				return 0
			}})
			m := (&model{}).CustomOp("Twice", []string{"y"}, []string{"x"}, attrs).Input("x", onnxFloat, 1, 2)
			t.OK("register_custom_ops", t.Open(m.Output("y", onnxFloat, 1, 2), 0), set.op("Twice"), 1)
			for name, data := range want {
				t.Check(slices.Equal(got[name].data, data) && got[name].name == name, "%s: %q has %d elements, %q", name,
					got[name].name,
					got[name].elems, got[name].data)
			}
		}).
		No("none", func(t *T) {
			var a opAttr
			set, ctx := t.opsOf(0, map[stage]func(opCall) int{stageInit: func(c opCall) int {
				a = t.attribute(c.ctx,
					"gamma")
				return 0
			}}), t.Open(foreign(1, 2), 0)
			t.OK("register_custom_ops", ctx, set.op("Twice"), 1)
			t.Check(a.NElems == 0 && a.Data == 0, "%d elements at %#x", a.NElems, a.Data)
			t.Judged(false)
		}),
	rule("8.j_priv_data", "priv_data is the program's and the same in all calls for a node, with op_ctx of its own per "+
		"node").
		OK("kept", func(t *T) {
			var seen []uintptr
			note := func(c opCall) int { seen = append(seen, c.ctx.Priv); return 0 }
			f := unary(double)
			compute := f[stageCompute]
			target := uint32(0)
			f[stageInit] = func(c opCall) int {
				target, c.ctx.Priv = c.ctx.Target, uintptr(100+len(seen))
				seen = append(seen, c.ctx.Priv)
				return 0
			}
			f[stagePrepare], f[stageDestroy] = note, note
			f[stageCompute] = func(c opCall) int { note(c); return compute(c) }
			m := (&model{}).Custom("Twice", "a", 1, 1, "x").Custom("Twice", "y", 1, 1, "a").Inner("a", onnxFloat, 1,
				2).Input("x", onnxFloat, 1, 2).Output("y", onnxFloat, 1, 2)
			set, ctx := t.opsOf(0, f), t.Open(m, 0)
			t.OK("register_custom_ops", ctx, set.op("Twice"), 1)
			t.Set(ctx, float32T, undefined, []float32{-1, 2})
			t.Computes(ctx, -4, 8)
			t.OK("destroy", ctx)
			t.Check(target == 1, "target %d", target)
			slices.Sort(seen[6:])
			t.Check(slices.Equal(seen, []uintptr{100, 101, 100, 100, 101, 101, 100, 101}), "priv_data %v", seen)
		}).
		No("init_fails", func(t *T) {
			set, ctx := t.opsOf(0, map[stage]func(opCall) int{stageInit: func(opCall) int { return -3 }}),
				t.Open(foreign(1, 2), 0)
			t.Is(failed, "register_custom_ops", ctx, set.op("Twice"), 1)
			t.Says("init", "-3")
			t.wantCalls("init")
		}),
}
