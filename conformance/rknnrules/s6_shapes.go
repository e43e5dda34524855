package rknnrules

import "slices"

// shapeAttr is what rknn_set_input_shapes takes for an input.
func shapeAttr(index int, format uint32, dims ...uint32) *tensorAttr {
	a := &tensorAttr{index: uint32(index), rank: uint32(len(dims)), format: format}
	copy(a.dims[:], dims)
	return a
}

// twoDynamic is y = a + b of n x 3, n of 2 or 5.
func twoDynamic() *model {
	m := (&model{}).node("Add", "y", "a", "b").input("a", onnxFloat, -1, 3).input("b", onnxFloat, -1, 3).output("y",
		onnxFloat, -1, 3)
	return m.meta("anynpu.input.a.shapes", [][]int{{2, 3}, {5, 3}}).meta("anynpu.input.b.shapes", [][]int{{2, 3}, {5, 3}})
}

func shapesOf(list ...*tensorAttr) []tensorAttr {
	var out []tensorAttr
	for _, a := range list {
		out = append(out, *a)
	}
	return out
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

var _ = section(
	rule("6.a_set_input_shapes", "chooses one of the listed sets, dims in the format of the attributes; others are FAIL "+
		"and the message lists the shapes").
		ok("listed", func(t *T) {
			ctx := t.open(dynamic(), 0)
			for _, h := range []uint32{2, 4, 1, 2} {
				t.ok("set_input_shapes", ctx, 1, shapeAttr(0, nhwc, 1, h, 3, 2))
				t.check(t.attr(ctx, queryCurrentInput, 0).dims[1] == h, "another shape")
			}
		}).
		no("not_listed", func(t *T) {
			ctx := t.open(dynamic(), 0)
			t.is(failed, "set_input_shapes", ctx, 1, shapeAttr(0, nhwc, 1, 3, 3, 2))
			t.says("[1 2 2 3]", "[1 2 4 3]", "[1 2 1 3]")
		}).
		no("in_another_layout", func(t *T) {
			t.is(failed, "set_input_shapes", t.open(dynamic(), 0), 1, shapeAttr(0, nhwc, 1, 2, 4, 3))
		}),
	rule("6.b_format_of_shapes", "fmt says how dims are ordered at rank 4: NHWC or NCHW").
		ok("both", func(t *T) {
			ctx := t.open(dynamic(), 0)
			t.ok("set_input_shapes", ctx, 1, shapeAttr(0, nchw, 1, 2, 1, 3))
			t.check(slices.Equal(t.attr(ctx, queryCurrentInput, 0).shape(), []uint32{1, 1, 3, 2}), "another shape")
			t.ok("set_input_shapes", ctx, 1, shapeAttr(0, nhwc, 1, 2, 3, 2))
		}).
		no("swapped", func(t *T) {
			t.is(failed, "set_input_shapes", t.open(dynamic(), 0), 1, shapeAttr(0, nchw, 1, 2, 3, 2))
		}),
	rule("6.c_all_inputs_together", "all inputs get shapes of the same set in one call; another count is PARAM_INVALID").
		ok("all", func(t *T) {
			ctx := t.open(twoDynamic(), 0)
			t.ok("set_input_shapes", ctx, 2, shapesOf(shapeAttr(1, undefined, 2, 3), shapeAttr(0, undefined, 2, 3)))
			t.check(t.attr(ctx, queryCurrentOutput, 0).dims[0] == 2, "another shape")
		}).
		no("count", func(t *T) {
			ctx := t.open(twoDynamic(), 0)
			t.bad("set_input_shapes", ctx, 1, shapeAttr(0, undefined, 2, 3))
			t.says("n_inputs is 1", "2 inputs")
			t.bad("set_input_shapes", ctx, 0, shapeAttr(0, undefined, 2, 3))
			t.bad("set_input_shapes", ctx, 2, nil)
		}).
		no("two_sets", func(t *T) {
			t.is(failed, "set_input_shapes", t.open(twoDynamic(), 0), 2, shapesOf(shapeAttr(0, undefined, 2, 3),
				shapeAttr(1, undefined, 5, 3)))
		}).
		no("twice_or_none", func(t *T) {
			ctx := t.open(twoDynamic(), 0)
			t.bad("set_input_shapes", ctx, 2, shapesOf(shapeAttr(0, undefined, 2, 3), shapeAttr(0, undefined, 2, 3)))
			t.bad("set_input_shapes", ctx, 2, shapesOf(shapeAttr(0, undefined, 2, 3), shapeAttr(9, undefined, 2, 3)))
		}),
	rule("6.d_rank", "n_dims must be the input's").
		ok("same", func(t *T) { t.ok("set_input_shapes", t.open(dynamic(), 0), 1, shapeAttr(0, nhwc, 1, 2, 3, 2)) }).
		no("other", func(t *T) {
			t.bad("set_input_shapes", t.open(dynamic(), 0), 1, shapeAttr(0, nhwc, 1, 2, 3))
			t.says("n_dims is 3")
			a := shapeAttr(0, nhwc, 1, 2, 3, 2)
			a.rank = 1 << 31
			t.bad("set_input_shapes", t.open(dynamic(), 0), 1, a)
		}),
	rule("6.e_sizes_follow", "rknn_inputs_set checks against the current shape, and results have it").
		ok("each", func(t *T) {
			ctx := t.open(dynamic(), 0)
			for _, h := range []int{1, 4, 2} {
				t.ok("set_input_shapes", ctx, 1, shapeAttr(0, nhwc, 1, uint32(h), 3, 2))
				x, want := elements(h * 6)
				t.set(ctx, float32T, nhwc, x)
				t.run(ctx)
				got := t.floats(ctx)
				t.check(len(got) == h*6, "%d elements", len(got))
				for i, v := range want {
					p, c := i/2, i%2
					t.check(got[c*h*3+p] == v, "height %d: element %d is %g, want %g", h, i, got[c*h*3+p], v)
				}
			}
		}).
		no("small", func(t *T) {
			ctx := t.open(dynamic(), 0)
			t.ok("set_input_shapes", ctx, 1, shapeAttr(0, nhwc, 1, 2, 3, 2))
			t.bad("inputs_set", ctx, 1, []input{t.given(0, float32T, nhwc, make([]float32, 6))})
		}),
	rule("6.ea_room_of_results", "a buffer that the library makes has room for what OUTPUT_ATTR says, the largest "+
		"shape; size is that of the result").
		ok("room", func(t *T) {
			ctx, held := t.open(dynamic(), 0), []output(nil)
			t.ok("set_input_shapes", ctx, 1, shapeAttr(0, nhwc, 1, 1, 3, 2))
			x, _ := elements(6)
			t.set(ctx, float32T, nhwc, x)
			t.run(ctx)
			most := t.attr(ctx, queryOutput, 0)
			for range 64 {
				for _, wantFloat := range []uint8{0, 1} {
					o := []output{{wantFloat: wantFloat}}
					t.ok("outputs_get", ctx, 1, o, nil)
					bytes := int(most.size) + int(wantFloat)*int(most.elems)*2
					t.check(o[0].size == 6*uint32(2+2*wantFloat), "size is %d", o[0].size)
					all := span[byte](o[0].buf, bytes)
					t.check(len(all) > int(o[0].size) && !slices.ContainsFunc(all[o[0].size:], func(b byte) bool { return b != 0 }),
						"the rest is not zero")
					for i := range all {
						all[i] = 0xee
					}
					held = append(held, o...)
				}
			}
			for _, o := range held {
				t.ok("outputs_release", ctx, 1, []output{o})
			}
		}).
		no("own_buffer", func(t *T) {
			ctx, b := t.open(dynamic(), 0), make([]byte, 24)
			t.ok("set_input_shapes", ctx, 1, shapeAttr(0, nhwc, 1, 1, 3, 2))
			t.set(ctx, float32T, nhwc, make([]float32, 6))
			t.run(ctx)
			t.is(badOutput, "outputs_get", ctx, 1, []output{{wantFloat: 1, isPrealloc: 1, buf: address(&b[0]), size: 23}}, nil)
			t.ok("outputs_get", ctx, 1, []output{{wantFloat: 1, isPrealloc: 1, buf: address(&b[0]), size: 24}}, nil)
		}),
	rule("6.f_a_new_shape_forgets", "after another shape inputs must be set and results computed anew; the same shape "+
		"changes nothing").
		ok("same", func(t *T) {
			ctx := t.open(dynamic(), 0)
			t.ok("set_input_shapes", ctx, 1, shapeAttr(0, nhwc, 1, 1, 3, 2))
			t.set(ctx, float32T, nhwc, []float32{1, 2, 3, 4, 5, 6})
			t.ok("set_input_shapes", ctx, 1, shapeAttr(0, nhwc, 1, 1, 3, 2))
			t.computes(ctx, 1, 3, 5, 2, 4, 6)
			t.ok("set_input_shapes", ctx, 1, shapeAttr(0, nhwc, 1, 1, 3, 2))
			t.gives(ctx, 1, 3, 5, 2, 4, 6)
		}).
		no("of_equal_size", func(t *T) {
			ctx := t.open(relu(-1, -2).meta("anynpu.input.x.shapes", [][]int{{2, 3}, {3, 2}}), 0)
			t.ok("set_input_shapes", ctx, 1, shapeAttr(0, undefined, 2, 3))
			t.set(ctx, float32T, undefined, []float32{1, 2, 3, 4, 5, 6})
			t.computes(ctx, 1, 2, 3, 4, 5, 6)
			t.ok("set_input_shapes", ctx, 1, shapeAttr(0, undefined, 3, 2))
			t.is(failed, "outputs_get", ctx, 1, []output{{}}, nil)
			t.is(failed, "run", ctx, nil)
		}).
		no("other", func(t *T) {
			ctx := t.open(dynamic(), 0)
			t.set(ctx, float32T, nhwc, make([]float32, 24))
			t.run(ctx)
			t.ok("set_input_shapes", ctx, 1, shapeAttr(0, nhwc, 1, 1, 3, 2))
			t.is(failed, "outputs_get", ctx, 1, []output{{}}, nil)
			t.is(failed, "run", ctx, nil)
		}),
	rule("6.g_static_models", "for a static model the shape it has is accepted and whatever else is MODEL_INVALID").
		ok("same", func(t *T) {
			ctx := t.open(relu(1, 4), 0)
			t.ok("set_input_shapes", ctx, 1, shapeAttr(0, undefined, 1, 4))
			t.works(ctx)
		}).
		no("other", func(t *T) {
			t.is(badModel, "set_input_shapes", t.open(relu(1, 4), 0), 1, shapeAttr(0, undefined, 1, 5))
			t.says("[1 4]")
		}).
		no("rank_or_index", func(t *T) {
			ctx := t.open(relu(1, 4), 0)
			t.is(badModel, "set_input_shapes", ctx, 1, shapeAttr(0, undefined, 4))
			t.is(badModel, "set_input_shapes", ctx, 1, shapeAttr(1, undefined, 1, 4))
			t.is(badModel, "set_input_shapes", ctx, 2, shapesOf(shapeAttr(0, undefined, 1, 4), shapeAttr(1, undefined, 1, 4)))
			t.bad("set_input_shapes", ctx, 1, nil)
			t.works(ctx)
		}),
	rule("6.h_bound_memory", "bound memory stays bound if it is large enough for the new shape; else the run is refused").
		ok("large", func(t *T) {
			ctx := t.open(dynamic(), 0)
			x, y := t.mem(ctx, 96), t.mem(ctx, 96)
			t.bind(ctx, x, t.attr(ctx, queryInput, 0), float32T, -1)
			t.bind(ctx, y, t.attr(ctx, queryOutput, 0), float32T, -1)
			for _, h := range []int{1, 4, 2} {
				t.ok("set_input_shapes", ctx, 1, shapeAttr(0, nhwc, 1, uint32(h), 3, 2))
				v, want := elements(h * 6)
				fill(x, v...)
				t.run(ctx)
				got := as[float32](y.bytes())
				for i, v := range want {
					t.check(got[i%2*h*3+i/2] == v, "height %d: element %d is %g, want %g", h, i, got[i%2*h*3+i/2], v)
				}
			}
		}).
		no("small", func(t *T) {
			ctx := t.open(dynamic(), 0)
			t.ok("set_input_shapes", ctx, 1, shapeAttr(0, nhwc, 1, 1, 3, 2))
			t.bind(ctx, t.mem(ctx, 24), t.attr(ctx, queryCurrentInput, 0), float32T, -1)
			t.ok("set_input_shapes", ctx, 1, shapeAttr(0, nhwc, 1, 4, 3, 2))
			t.bad("run", ctx, nil)
			t.says("mem->size is 24")
		}),
	rule("6.i_shapes_of_duplicates", "a duplicate has shapes of its own").
		ok("own", func(t *T) {
			a := t.open(dynamic(), 0)
			b := t.dup(a)
			t.ok("set_input_shapes", a, 1, shapeAttr(0, nhwc, 1, 1, 3, 2))
			t.ok("set_input_shapes", b, 1, shapeAttr(0, nhwc, 1, 2, 3, 2))
			t.check(t.attr(a, queryCurrentInput, 0).dims[1] == 1 && t.attr(b, queryCurrentInput, 0).dims[1] == 2,
				"they share one")
		}).
		no("not_listed", func(t *T) {
			b := t.dup(t.open(dynamic(), 0))
			t.is(failed, "set_input_shapes", b, 1, shapeAttr(0, nhwc, 1, 9, 3, 2))
		}),
	rule("6.j_lists", "lists of several inputs have as many shapes, each fitting its input; else the model is "+
		"MODEL_INVALID").
		ok("fitting", func(t *T) { t.open(twoDynamic(), 0) }).
		no("other_numbers", func(t *T) {
			m := relu(1, 2, -1, 3)
			t.refusedModel(m.meta("anynpu.input.x.shapes", [][]int{{1, 9, 2, 3}}).bytes())
			t.says("anynpu.input.x.shapes")
			t.refusedModel((&model{}).node("Add", "y", "a", "b").input("a", onnxFloat, -1, 3).input("b", onnxFloat, -1,
				3).output("y", onnxFloat, -1, 3).
				meta("anynpu.input.a.shapes", [][]int{{2, 3}, {5, 3}}).meta("anynpu.input.b.shapes", [][]int{{2, 3}}).bytes())
		}),
	rule("6.k_open_batch", "an open first dimension without a list becomes 1; another open one is refused").
		ok("batch", func(t *T) {
			a := t.attr(t.open(relu(-1, 4), 0), queryInput, 0)
			t.check(slices.Equal(a.shape(), []uint32{1, 4}), "%v", a.shape())
		}).
		no("other", func(t *T) { t.refusedModel(relu(1, -1).bytes()) }),
)
