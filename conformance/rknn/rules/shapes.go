package rules

import (
	"slices"

	"github.com/anynpu/anynpu/conformance/rknn"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// shapeAttr is what rknn_set_input_shapes takes for an input.
func shapeAttr(index int, format uint32, dims ...uint32) *tensorAttr {
	a := &tensorAttr{Index: uint32(index), Rank: uint32(len(dims)), Format: format}
	copy(a.Dims[:], dims)
	return a
}

// twoDynamic is y = a + b of n x 3, n of 2 or 5.
func twoDynamic() *model {
	m := (&model{}).Node("Add", "y", "a", "b").Input("a", onnxFloat, -1, 3).Input("b", onnxFloat, -1, 3).Output("y",
		onnxFloat, -1, 3)
	return m.Meta("anynpu.input.a.shapes", [][]int{{2, 3}, {5, 3}}).Meta("anynpu.input.b.shapes", [][]int{{2, 3}, {5, 3}})
}

func shapesOf(list ...*tensorAttr) []tensorAttr {
	var out []tensorAttr
	for _, a := range list {
		out = append(out, *a)
	}
	return out
}

// oneDynamic is y = a + b, where a has one of the shapes [2 3], [5 3], [1 3], and b always [1 3].
func oneDynamic() *model {
	m := (&model{}).Node("Add", "y", "a", "b").Input("a", onnxFloat, -1, 3).Input("b", onnxFloat, 1, 3).Output("y",
		onnxFloat, -1, 3)
	return m.Meta("anynpu.input.a.shapes", [][]int{{2, 3}, {5, 3}, {1, 3}})
}

// sharesOpen is y = a + b of [n 3] and [n 3], the same n, with lists that may differ.
func sharesOpen(a, b [][]int) *model {
	m := (&model{}).Node("Add", "y", "a", "b").Input("a", onnxFloat, -1, 3).Input("b", onnxFloat, -1, 3).Output("y",
		onnxFloat, -1, 3)
	return m.Meta("anynpu.input.a.shapes", a).Meta("anynpu.input.b.shapes", b)
}

// elements are 0.5, -1.5, 2.5, ...
func elements(n int) (x, relu []float32) {
	for i := range n {
		v := float32(i) + 0.5
		if i%2 == 1 {
			v = -v
		}
		x, relu = append(x, v), append(relu, max(v, 0))
	}
	return x, relu
}

var dynamicShapes = []*Rule{
	rule("6.a_set_input_shapes", "chooses one of the listed sets, dims in the format of the attributes; others are FAIL "+
		"and the message lists the shapes").
		OK("listed", func(t *T) {
			ctx := t.Open(dynamic(), 0)
			for _, h := range []uint32{2, 4, 1, 2} {
				t.OK("set_input_shapes", ctx, 1, shapeAttr(0, nhwc, 1, h, 3, 2))
				t.Check(t.Attr(ctx, queryCurrentInput, 0).Dims[1] == h, "another shape")
			}
		}).
		No("not_listed", func(t *T) {
			ctx := t.Open(dynamic(), 0)
			t.Is(failed, "set_input_shapes", ctx, 1, shapeAttr(0, nhwc, 1, 3, 3, 2))
			t.Says("[1 2 2 3]", "[1 2 4 3]", "[1 2 1 3]")
		}).
		No("in_another_layout", func(t *T) {
			t.Is(failed, "set_input_shapes", t.Open(dynamic(), 0), 1, shapeAttr(0, nhwc, 1, 2, 4, 3))
		}),
	rule("6.b_format_of_shapes", "fmt says how dims are ordered at rank 4: NHWC or NCHW").
		OK("both", func(t *T) {
			ctx := t.Open(dynamic(), 0)
			t.OK("set_input_shapes", ctx, 1, shapeAttr(0, nchw, 1, 2, 1, 3))
			t.Check(slices.Equal(t.Attr(ctx, queryCurrentInput, 0).Shape(), []uint32{1, 1, 3, 2}), "another shape")
			t.OK("set_input_shapes", ctx, 1, shapeAttr(0, nhwc, 1, 2, 3, 2))
		}).
		No("swapped", func(t *T) {
			t.Is(failed, "set_input_shapes", t.Open(dynamic(), 0), 1, shapeAttr(0, nchw, 1, 2, 3, 2))
		}),
	rule("6.c_all_inputs_together", "all inputs get shapes of the same set in one call; another count is PARAM_INVALID").
		OK("all", func(t *T) {
			ctx := t.Open(twoDynamic(), 0)
			t.OK("set_input_shapes", ctx, 2, shapesOf(shapeAttr(1, undefined, 2, 3), shapeAttr(0, undefined, 2, 3)))
			t.Check(t.Attr(ctx, queryCurrentOutput, 0).Dims[0] == 2, "another shape")
		}).
		No("count", func(t *T) {
			ctx := t.Open(twoDynamic(), 0)
			t.Bad("set_input_shapes", ctx, 1, shapeAttr(0, undefined, 2, 3))
			t.Says("n_inputs is 1", "2 inputs")
			t.Bad("set_input_shapes", ctx, 0, shapeAttr(0, undefined, 2, 3))
			t.Bad("set_input_shapes", ctx, 2, nil)
		}).
		No("two_sets", func(t *T) {
			t.Is(failed, "set_input_shapes", t.Open(twoDynamic(), 0), 2, shapesOf(shapeAttr(0, undefined, 2, 3),
				shapeAttr(1, undefined, 5, 3)))
		}).
		No("twice_or_none", func(t *T) {
			ctx := t.Open(twoDynamic(), 0)
			t.Bad("set_input_shapes", ctx, 2, shapesOf(shapeAttr(0, undefined, 2, 3), shapeAttr(0, undefined, 2, 3)))
			t.Bad("set_input_shapes", ctx, 2, shapesOf(shapeAttr(0, undefined, 2, 3), shapeAttr(9, undefined, 2, 3)))
		}),
	rule("6.d_rank", "n_dims must be the input's").
		OK("same", func(t *T) { t.OK("set_input_shapes", t.Open(dynamic(), 0), 1, shapeAttr(0, nhwc, 1, 2, 3, 2)) }).
		No("other", func(t *T) {
			t.Bad("set_input_shapes", t.Open(dynamic(), 0), 1, shapeAttr(0, nhwc, 1, 2, 3))
			t.Says("n_dims is 3")
			a := shapeAttr(0, nhwc, 1, 2, 3, 2)
			a.Rank = 1 << 31
			t.Bad("set_input_shapes", t.Open(dynamic(), 0), 1, a)
		}),
	rule("6.e_sizes_follow", "rknn_inputs_set checks against the current shape, and results have it").
		OK("each", func(t *T) {
			ctx := t.Open(dynamic(), 0)
			for _, h := range []int{1, 4, 2} {
				t.OK("set_input_shapes", ctx, 1, shapeAttr(0, nhwc, 1, uint32(h), 3, 2))
				x, want := elements(h * 6)
				t.Set(ctx, float32T, nhwc, x)
				t.Run(ctx)
				got := t.Floats(ctx)
				t.Check(len(got) == h*6, "%d elements", len(got))
				for i, v := range want {
					p, c := i/2, i%2
					t.Check(got[c*h*3+p] == v, "height %d: element %d is %g, want %g", h, i, got[c*h*3+p], v)
				}
			}
		}).
		OK("operands", func(t *T) {
			for _, columns := range []int{1, 40} {
				ctx := t.Open(positions(columns), 0)
				for _, h := range []int{5, 2, 1, 5, 2} {
					t.OK("set_input_shapes", ctx, 1, shapeAttr(0, nhwc, 1, uint32(h), 3, 2))
					x, want := make([]float32, h*6), make([]float32, 6)
					for i := range x {
						x[i] = float32(i%7 - 3)
						want[i%2*3+i/2%3] += x[i] * float32(i/6)
					}
					t.Set(ctx, float32T, nhwc, x)
					t.Run(ctx)
					got := t.Floats(ctx)
					t.Check(len(got) == 6*columns, "height %d: %d elements", h, len(got))
					for i, v := range got {
						w := want[i/columns] * float32(i%columns+1)
						t.Check(v == w, "height %d: element %d is %g, want %g", h, i, v, w)
					}
				}
			}
		}).
		No("small_memory", func(t *T) { // stays bound, for the shapes that it can hold
			ctx := t.Open(dynamic(), 0)
			shape := func(h int) {
				t.OK("set_input_shapes", ctx, 1, shapeAttr(0, nhwc, 1, uint32(h), 3, 2))
				x, _ := elements(h * 6)
				t.Set(ctx, float32T, nhwc, x)
			}
			shape(1)
			a, m := t.Attr(ctx, queryCurrentOutput, 0), t.Mem(ctx, 24)
			a.Kind = float32T
			t.OK("set_io_mem", ctx, cmem.Address(m), a)
			shape(4)
			t.Bad("run", ctx, nil)
			t.Says("mem->size is 24", "takes 96 bytes")
			shape(1)
			t.Run(ctx)
			_, want := elements(6)
			got := cmem.Span[float32](m.Virt, 6)
			for i, v := range want {
				p, c := i/2, i%2
				t.Check(got[c*3+p] == v, "element %d is %g, want %g", i, got[c*3+p], v)
			}
		}).
		No("small", func(t *T) {
			ctx := t.Open(dynamic(), 0)
			t.OK("set_input_shapes", ctx, 1, shapeAttr(0, nhwc, 1, 2, 3, 2))
			t.Bad("inputs_set", ctx, 1, []input{t.Given(0, float32T, nhwc, make([]float32, 6))})
		}),
	rule("6.ea_room_of_results", "a buffer that the library makes has room for what OUTPUT_ATTR says, the largest "+
		"shape; size is that of the result").
		OK("room", func(t *T) {
			ctx, held := t.Open(dynamic(), 0), []output(nil)
			t.OK("set_input_shapes", ctx, 1, shapeAttr(0, nhwc, 1, 1, 3, 2))
			x, _ := elements(6)
			t.Set(ctx, float32T, nhwc, x)
			t.Run(ctx)
			most := t.Attr(ctx, queryOutput, 0)
			for range 64 {
				for _, wantFloat := range []uint8{0, 1} {
					o := []output{{WantFloat: wantFloat}}
					t.OK("outputs_get", ctx, 1, o, nil)
					bytes := int(most.Size) + int(wantFloat)*int(most.Elems)*2
					t.Check(o[0].Size == 6*uint32(2+2*wantFloat), "size is %d", o[0].Size)
					all := cmem.Span[byte](o[0].Buf, bytes)
					t.Check(len(all) > int(o[0].Size) && !slices.ContainsFunc(all[o[0].Size:], func(b byte) bool { return b != 0 }),
						"the rest is not zero")
					for i := range all {
						all[i] = 0xee
					}
					held = append(held, o...)
				}
			}
			for _, o := range held {
				t.OK("outputs_release", ctx, 1, []output{o})
			}
		}).
		No("own_buffer", func(t *T) {
			ctx, b := t.Open(dynamic(), 0), make([]byte, 24)
			t.OK("set_input_shapes", ctx, 1, shapeAttr(0, nhwc, 1, 1, 3, 2))
			t.Set(ctx, float32T, nhwc, make([]float32, 6))
			t.Run(ctx)
			t.Is(badOutput, "outputs_get", ctx, 1, []output{{WantFloat: 1, IsPrealloc: 1, Buf: cmem.First(b), Size: 23}},
				nil)
			t.OK("outputs_get", ctx, 1, []output{{WantFloat: 1, IsPrealloc: 1, Buf: cmem.First(b), Size: 24}}, nil)
		}),
	rule("6.f_a_new_shape_forgets", "after another shape inputs must be set and results computed anew; the same shape "+
		"changes nothing").
		OK("same", func(t *T) {
			ctx := t.Open(dynamic(), 0)
			t.OK("set_input_shapes", ctx, 1, shapeAttr(0, nhwc, 1, 1, 3, 2))
			t.Set(ctx, float32T, nhwc, []float32{1, 2, 3, 4, 5, 6})
			t.OK("set_input_shapes", ctx, 1, shapeAttr(0, nhwc, 1, 1, 3, 2))
			t.Computes(ctx, 1, 3, 5, 2, 4, 6)
			t.OK("set_input_shapes", ctx, 1, shapeAttr(0, nhwc, 1, 1, 3, 2))
			t.Gives(ctx, 1, 3, 5, 2, 4, 6)
		}).
		No("of_equal_size", func(t *T) {
			ctx := t.Open(relu(-1, -2).Meta("anynpu.input.x.shapes", [][]int{{2, 3}, {3, 2}}), 0)
			t.OK("set_input_shapes", ctx, 1, shapeAttr(0, undefined, 2, 3))
			t.Set(ctx, float32T, undefined, []float32{1, 2, 3, 4, 5, 6})
			t.Computes(ctx, 1, 2, 3, 4, 5, 6)
			t.OK("set_input_shapes", ctx, 1, shapeAttr(0, undefined, 3, 2))
			t.Is(failed, "outputs_get", ctx, 1, []output{{}}, nil)
			t.Is(failed, "run", ctx, nil)
		}).
		No("other", func(t *T) {
			ctx := t.Open(dynamic(), 0)
			t.Set(ctx, float32T, nhwc, make([]float32, 24))
			t.Run(ctx)
			t.OK("set_input_shapes", ctx, 1, shapeAttr(0, nhwc, 1, 1, 3, 2))
			t.Is(failed, "outputs_get", ctx, 1, []output{{}}, nil)
			t.Is(failed, "run", ctx, nil)
		}),
	rule("6.g_static_models", "for a static model the shape it has is accepted and whatever else is MODEL_INVALID").
		OK("same", func(t *T) {
			ctx := t.Open(relu(1, 4), 0)
			t.OK("set_input_shapes", ctx, 1, shapeAttr(0, undefined, 1, 4))
			t.works(ctx)
		}).
		No("other", func(t *T) {
			t.Is(badModel, "set_input_shapes", t.Open(relu(1, 4), 0), 1, shapeAttr(0, undefined, 1, 5))
			t.Says("[1 4]")
		}).
		No("rank_or_index", func(t *T) {
			ctx := t.Open(relu(1, 4), 0)
			t.Is(badModel, "set_input_shapes", ctx, 1, shapeAttr(0, undefined, 4))
			t.Is(badModel, "set_input_shapes", ctx, 1, shapeAttr(1, undefined, 1, 4))
			t.Is(badModel, "set_input_shapes", ctx, 2, shapesOf(shapeAttr(0, undefined, 1, 4), shapeAttr(1, undefined, 1, 4)))
			t.Bad("set_input_shapes", ctx, 1, nil)
			t.works(ctx)
		}),
	rule("6.h_bound_memory", "bound memory stays bound if it is large enough for the new shape; else the run is refused").
		OK("large", func(t *T) {
			ctx := t.Open(dynamic(), 0)
			x, y := t.Mem(ctx, 96), t.Mem(ctx, 96)
			t.Bind(ctx, x, t.Attr(ctx, queryInput, 0), float32T, -1)
			t.Bind(ctx, y, t.Attr(ctx, queryOutput, 0), float32T, -1)
			for _, h := range []int{1, 4, 2} {
				t.OK("set_input_shapes", ctx, 1, shapeAttr(0, nhwc, 1, uint32(h), 3, 2))
				v, want := elements(h * 6)
				rknn.Fill(x, v...)
				t.Run(ctx)
				got := cmem.As[float32](y.Bytes())
				for i, v := range want {
					t.Check(got[i%2*h*3+i/2] == v, "height %d: element %d is %g, want %g", h, i, got[i%2*h*3+i/2], v)
				}
			}
		}).
		No("small", func(t *T) {
			ctx := t.Open(dynamic(), 0)
			t.OK("set_input_shapes", ctx, 1, shapeAttr(0, nhwc, 1, 1, 3, 2))
			t.Bind(ctx, t.Mem(ctx, 24), t.Attr(ctx, queryCurrentInput, 0), float32T, -1)
			t.OK("set_input_shapes", ctx, 1, shapeAttr(0, nhwc, 1, 4, 3, 2))
			t.Bad("run", ctx, nil)
			t.Says("mem->size is 24")
		}),
	rule("6.i_shapes_of_duplicates", "a duplicate has shapes of its own").
		OK("own", func(t *T) {
			a := t.Open(dynamic(), 0)
			b := t.Dup(a)
			t.OK("set_input_shapes", a, 1, shapeAttr(0, nhwc, 1, 1, 3, 2))
			t.OK("set_input_shapes", b, 1, shapeAttr(0, nhwc, 1, 2, 3, 2))
			t.Check(t.Attr(a, queryCurrentInput, 0).Dims[1] == 1 && t.Attr(b, queryCurrentInput, 0).Dims[1] == 2,
				"they share one")
		}).
		No("not_listed", func(t *T) {
			b := t.Dup(t.Open(dynamic(), 0))
			t.Is(failed, "set_input_shapes", b, 1, shapeAttr(0, nhwc, 1, 9, 3, 2))
		}),
	rule("6.j_lists", "lists of several inputs have as many shapes, each fitting its input; else the model is "+
		"MODEL_INVALID").
		OK("fitting", func(t *T) { t.Open(twoDynamic(), 0) }).
		No("other_numbers", func(t *T) {
			m := relu(1, 2, -1, 3)
			t.refusedModel(m.Meta("anynpu.input.x.shapes", [][]int{{1, 9, 2, 3}}).Bytes())
			t.Says("anynpu.input.x.shapes")
			t.refusedModel((&model{}).Node("Add", "y", "a", "b").Input("a", onnxFloat, -1, 3).Input("b", onnxFloat, -1,
				3).Output("y", onnxFloat, -1, 3).
				Meta("anynpu.input.a.shapes", [][]int{{2, 3}, {5, 3}}).Meta("anynpu.input.b.shapes", [][]int{{2, 3}}).Bytes())
		}),
	rule("6.ja_one_list", "an input of fixed sizes needs no list: it has the same shape in each set of the others'").
		OK("each_order", func(t *T) {
			ctx := t.Open(oneDynamic(), 0)
			for round, n := range []int{2, 1, 5, 1, 2, 5, 5} {
				list := shapesOf(shapeAttr(0, undefined, uint32(n), 3), shapeAttr(1, undefined, 1, 3))
				if round%2 == 1 {
					slices.Reverse(list)
				}
				t.OK("set_input_shapes", ctx, 2, list)
				for index, want := range []uint32{uint32(n), 1} {
					t.Check(slices.Equal(t.Attr(ctx, queryCurrentInput, index).Shape(), []uint32{want, 3}), "input %d of %d", index, n)
				}
				t.Check(slices.Equal(t.Attr(ctx, queryCurrentOutput, 0).Shape(), []uint32{uint32(n), 3}), "output of %d", n)
				t.Check(t.Attr(ctx, queryInput, 0).Dims[0] == 5 && t.Attr(ctx, queryOutput, 0).Dims[0] == 5,
					"the attributes of the largest shape have changed")
				x, want := make([]float32, 3*n), make([]float32, 3*n)
				for i := range x {
					x[i] = float32(i + round)
					want[i] = x[i] + float32(i%3*100)
				}
				t.OK("inputs_set", ctx, 2, []input{t.Given(1, float32T, undefined, []float32{0, 100, 200}),
					t.Given(0, float32T, undefined, x)})
				t.Computes(ctx, want...)
			}
		}).
		No("other_size_of_the_fixed", func(t *T) {
			ctx := t.Open(oneDynamic(), 0)
			t.Is(failed, "set_input_shapes", ctx, 2, shapesOf(shapeAttr(0, undefined, 2, 3), shapeAttr(1, undefined, 2, 3)))
			t.Bad("set_input_shapes", ctx, 1, shapeAttr(0, undefined, 2, 3))
		}),
	rule("6.jb_shared_dimension", "inputs that share an open dimension have the same size there in each set").
		OK("same", func(t *T) {
			ctx := t.Open(sharesOpen([][]int{{2, 3}, {5, 3}}, [][]int{{2, 3}, {5, 3}}), 0)
			t.OK("set_input_shapes", ctx, 2, shapesOf(shapeAttr(0, undefined, 2, 3), shapeAttr(1, undefined, 2, 3)))
		}).
		No("other", func(t *T) {
			t.refusedModel(sharesOpen([][]int{{2, 3}, {5, 3}}, [][]int{{2, 3}, {4, 3}}).Bytes())
			t.refusedModel(sharesOpen([][]int{{2, 3}, {5, 3}}, [][]int{{5, 3}, {2, 3}}).Bytes())
		}),
	rule("6.k_open_batch", "an open first dimension without a list becomes 1, and so does each that has its name; "+
		"another open one is refused").
		OK("batch", func(t *T) {
			a := t.Attr(t.Open(relu(-1, 4), 0), queryInput, 0)
			t.Check(slices.Equal(a.Shape(), []uint32{1, 4}), "%v", a.Shape())
		}).
		OK("name_elsewhere", func(t *T) {
			for _, first := range []string{"x", "w"} { // the model's first input
				m := (&model{}).Node("MatMul", "y", "w", "x").Output("y", onnxFloat, 2, 3)
				given := map[string][]float32{"x": {5, 7, -9}, "w": {1, -2}}
				dims, names := map[string][]int64{"x": {-1, 3}, "w": {2, -1}}, []string{"x", "w"}
				if first != names[0] {
					slices.Reverse(names)
				}
				for _, name := range names {
					m.Input(name, onnxFloat, dims[name]...)
				}
				ctx := t.Open(m, 0)
				t.OK("inputs_set", ctx, 2, []input{t.Given(0, float32T, undefined, given[names[0]]),
					t.Given(1, float32T, undefined, given[names[1]])})
				t.Computes(ctx, 5, 7, -9, -10, -14, 18)
			}
		}).
		No("other", func(t *T) { t.refusedModel(relu(1, -1).Bytes()) }),
}
