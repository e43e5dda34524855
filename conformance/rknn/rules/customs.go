package rules

import (
	"slices"

	"github.com/anynpu/anynpu/conformance/rknn"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

var customOperators = []*Rule{
	rule("8.a_register", "operators are registered between rknn_init and a run; the array is copied").
		OK("copied", func(t *T) {
			set, ctx := t.opsOf(0, unary(double)), t.Open(foreign(1, 4), 0)
			op := set.op("Twice")
			t.OK("register_custom_ops", ctx, op, 1)
			*op = customOp{}
			t.Set(ctx, float32T, undefined, []float32{-1, 2, -3, 4})
			t.Computes(ctx, -2, 4, -6, 8)
		}).
		No("arguments", func(t *T) {
			set, ctx := t.opsOf(0, unary(double)), t.Open(foreign(1, 4), 0)
			t.Bad("register_custom_ops", ctx, nil, 1)
			t.Bad("register_custom_ops", ctx, set.op("Twice"), 0)
			t.Bad("register_custom_ops", ctx, set.op(""), 1)
			t.wantCalls()
		}),
	rule("8.ab_registered_after_a_refusal", "a registration that is refused leaves nothing: a good one after it counts, "+
		"and without one the run still lacks the operator").
		OK("good_one", func(t *T) {
			set, ctx := t.opsOf(0, unary(double)), t.Open(foreign(1, 4), 0)
			for range 2 {
				bad, other := *set.op("Twice"), *set.op("Twice")
				bad.Compute, other.Target = 0, 99
				t.Bad("register_custom_ops", ctx, &bad, 1)
				t.Bad("register_custom_ops", ctx, &other, 1)
				t.Bad("register_custom_ops", ctx, []customOp{*set.op("Twice"), bad}, 2)
				t.wantCalls()
			}
			t.OK("register_custom_ops", ctx, set.op("Twice"), 1)
			t.wantCalls("init")
			t.Set(ctx, float32T, undefined, []float32{-1, 2, -3, 4})
			t.Computes(ctx, -2, 4, -6, 8)
			t.wantCalls("prepare", "compute")
		}).
		No("none_after_it", func(t *T) {
			set, ctx := t.opsOf(0, unary(double)), t.Open(foreign(1, 4), 0)
			bad := *set.op("Twice")
			bad.Compute = 0
			t.Bad("register_custom_ops", ctx, []customOp{*set.op("Twice"), bad}, 2)
			t.Set(ctx, float32T, undefined, []float32{-1, 2, -3, 4})
			t.Is(failed, "run", ctx, nil)
			t.wantCalls()
		}),
	rule("8.ac_registered_after_a_failure",
		"operators whose init has failed are not registered: a later call makes its own alone").
		OK("others", func(t *T) {
			m := (&model{}).Node("Neg", "a", "x").Node("Relu", "y", "a")
			ctx := t.Open(m.Input("x", onnxFloat, 1, 2).Output("y", onnxFloat, 1, 2), 0)
			f, more := unary(double), func(v float32) float32 { return v + 100 }
			f[stageInit] = func(opCall) int { return -3 }
			t.OK("register_custom_ops", ctx, t.opsOf(1, unary(more)).op("Relu"), 1)
			for range 2 {
				t.Is(failed, "register_custom_ops", ctx, t.opsOf(0, f).op("Neg"), 1)
				t.wantCalls("init")
			}
			t.OK("register_custom_ops", ctx, t.opsOf(1, unary(more)).op("Relu"), 1)
			t.wantCalls("second init", "second destroy")
			t.Set(ctx, float32T, undefined, []float32{-1, 2})
			t.Computes(ctx, 101, 98)
			t.OK("register_custom_ops", ctx, t.opsOf(0, unary(double)).op("Neg"), 1)
			t.Computes(ctx, 98, 104)
		}).
		No("none", func(t *T) {
			ctx := t.Open(foreign(1, 2), 0)
			f := unary(double)
			f[stageInit] = func(opCall) int { return -3 }
			t.Is(failed, "register_custom_ops", ctx, t.opsOf(0, f).op("Twice"), 1)
			t.Set(ctx, float32T, undefined, []float32{-1, 2})
			t.Is(failed, "run", ctx, nil)
		}),
	rule("8.b_compute", "compute is mandatory, the other functions may be NULL").
		OK("alone", func(t *T) {
			set, ctx := t.opsOf(0, unary(double)), t.Open(foreign(1, 2), 0)
			op := set.op("Twice")
			op.Init, op.Prepare, op.Destroy = 0, 0, 0
			t.OK("register_custom_ops", ctx, op, 1)
			t.Set(ctx, float32T, undefined, []float32{-1, 2})
			t.Computes(ctx, -2, 4)
		}).
		No("none", func(t *T) {
			op := t.opsOf(0, nil).op("Twice")
			op.Compute = 0
			t.Bad("register_custom_ops", t.Open(foreign(1, 2), 0), op, 1)
			t.Says("compute")
		}),
	rule("8.c_target", "the CPU computes; another target is PARAM_INVALID").
		OK("cpu", func(t *T) {
			t.OK("register_custom_ops", t.Open(foreign(1, 2), 0), t.opsOf(0, unary(double)).op("Twice"), 1)
		}).
		No("others", func(t *T) {
			for _, target := range []uint32{0, 2, 3, 99} {
				op := t.opsOf(0, unary(double)).op("Twice")
				op.Target = target
				t.Bad("register_custom_ops", t.Open(foreign(1, 2), 0), op, 1)
				t.Says("op[0].target", "RKNN_TARGET_TYPE_CPU")
			}
		}),
	rule("8.d_order_of_calls", "init once per node at the registration, prepare and compute in each run, destroy once "+
		"in rknn_destroy; compute_native never").
		OK("order", func(t *T) {
			set, ctx := t.opsOf(0, unary(double)), t.Open(foreign(1, 2), 0)
			op := set.op("Twice")
			op.ComputeNative = op.Init
			t.OK("register_custom_ops", ctx, op, 1)
			t.wantCalls("init")
			t.Set(ctx, float32T, undefined, []float32{-1, 2})
			t.wantCalls()
			t.Run(ctx)
			t.wantCalls("prepare", "compute")
			t.Run(ctx)
			t.wantCalls("prepare", "compute")
			t.OK("destroy", ctx)
			t.wantCalls("destroy")
		}).
		No("after_destroy", func(t *T) {
			set, ctx := t.opsOf(0, unary(double)), t.Open(foreign(1, 2), 0)
			t.OK("destroy", ctx)
			t.Is(badContext, "register_custom_ops", ctx, set.op("Twice"), 1)
			t.wantCalls()
		}),
	rule("8.e_unregistered", "a model with foreign operators loads; its run fails and names the first one").
		OK("loads", func(t *T) { t.Attr(t.Open(foreign(1, 2), 0), queryInput, 0) }).
		No("run", func(t *T) {
			ctx := t.Open(foreign(1, 2), 0)
			t.Set(ctx, float32T, undefined, []float32{-1, 2})
			t.Is(failed, "run", ctx, nil)
			t.Says("Twice", "rknn_register_custom_ops")
		}).
		No("others_registered", func(t *T) {
			set, ctx := t.opsOf(0, unary(double)), t.Open(foreign(1, 2), 0)
			t.OK("register_custom_ops", ctx, set.op("Thrice"), 1)
			t.Set(ctx, float32T, undefined, []float32{-1, 2})
			t.Is(failed, "run", ctx, nil)
		}),
	rule("8.k_built_in_operators", "a registered type replaces the library's own operator, unless init returns -14").
		OK("replaced", func(t *T) {
			set, ctx := t.opsOf(0, unary(double)), t.Open(relu(1, 2), 0)
			t.OK("register_custom_ops", ctx, set.op("Relu"), 1)
			t.Set(ctx, float32T, undefined, []float32{-1, 2})
			t.Computes(ctx, -2, 4)
		}).
		OK("left", func(t *T) {
			f := unary(double)
			f[stageInit] = func(opCall) int { return skipOp }
			set, ctx := t.opsOf(0, f), t.Open(relu(1, 2), 0)
			t.OK("register_custom_ops", ctx, set.op("Relu"), 1)
			t.Set(ctx, float32T, undefined, []float32{-1, 2})
			t.Computes(ctx, 0, 2)
			t.wantCalls("init")
		}).
		OK("replaced_then_left", func(t *T) {
			m := (&model{}).Node("Neg", "a", "x").Node("Neg", "b", "a").Node("Relu", "c", "b").Node("Neg", "y", "c")
			ctx := t.Open(m.Input("x", onnxFloat, 2).Output("y", onnxFloat, 2), 0)
			dup := t.Dup(ctx)
			leave := func(opCall) int { return skipOp }
			for k, at := range []uintptr{ctx, dup, ctx} {
				f := unary(func(v float32) float32 { return v + 100 })
				t.OK("register_custom_ops", at, t.opsOf(0, f).op("Relu"), 1)
				t.Set(at, float32T, undefined, []float32{-1, 2 + float32(k)})
				t.Computes(at, -99, -102-float32(k))
				t.OK("register_custom_ops", at, t.opsOf(1, map[stage]func(opCall) int{stageInit: leave}).op("Relu"), 1)
				t.Set(at, float32T, undefined, []float32{-1, 2 + float32(k)})
				t.Computes(at, 0, -2-float32(k))
			}
		}).
		OK("in_every_size", func(t *T) {
			ctx := t.Open(dynamic(), 0)
			t.OK("register_custom_ops", ctx, t.opsOf(0, unary(double)).op("Relu"), 1)
			for _, rows := range []int64{4, 1, 2, 4} {
				t.OK("set_input_shapes", ctx, 1, shapeAttr(0, nhwc, 1, uint32(rows), 3, 2))
				x, want := make([]float32, 6*rows), make([]float32, 6*rows)
				for i := range x {
					x[i] = float32(i) - 5
				}
				for i := range want { // NHWC to NCHW
					c, rest := i/int(3*rows), i%int(3*rows)
					want[i] = 2 * x[2*rest+c]
				}
				t.Set(ctx, float32T, nhwc, x)
				t.Computes(ctx, want...)
			}
		}).
		OK("inputs_left_out", func(t *T) {
			m := (&model{}).Constant("hi", onnxFloat, rknn.RealBytes(3)).Node("Clip", "y", "x", "", "hi")
			ctx := t.Open(m.Input("x", onnxFloat, 2).Output("y", onnxFloat, 2), 0)
			var last []float32
			f := unary(double)
			compute := f[stageCompute]
			f[stageCompute] = func(c opCall) int {
				last = slices.Clone(c.in[len(c.in)-1].Floats())
				return compute(c)
			}
			t.OK("register_custom_ops", ctx, t.opsOf(0, f).op("Clip"), 1)
			t.Set(ctx, float32T, undefined, []float32{-1, 20})
			t.Computes(ctx, -2, 40)
			t.Check(slices.Equal(last, []float32{3}), "the last input is %v, want the upper bound 3", last)
		}).
		OK("in_memory_of_the_input", func(t *T) {
			m := (&model{}).Node("Neg", "a", "x").Node("Relu", "y", "x").Node("Add", "z", "x", "a").Node("Add", "w", "z", "x")
			ctx := t.Open(m.Input("x", onnxFloat, 4).Output("y", onnxFloat, 4).Output("w", onnxFloat, 4), 0)
			t.OK("register_custom_ops", ctx, t.opsOf(0, unary(double)).op("Relu"), 1)
			for round := range 3 {
				x, w := t.Mem(ctx, 16), t.Mem(ctx, 16)
				t.Bind(ctx, x, t.Attr(ctx, queryInput, 0), float32T, -1)
				t.Bind(ctx, x, t.Attr(ctx, queryOutput, round%2), float32T, -1)
				t.Bind(ctx, w, t.Attr(ctx, queryOutput, 1-round%2), float32T, -1)
				rknn.Fill[float32](x, -1, 2, -3, 4)
				t.Run(ctx)
				twice, own := []float32{-2, 4, -6, 8}, []float32{-1, 2, -3, 4}
				if round%2 == 1 {
					twice, own = own, twice
				}
				got := [][]float32{cmem.As[float32](x.Bytes()), cmem.As[float32](w.Bytes())}
				t.Check(slices.Equal(got[0][:4], twice) && slices.Equal(got[1][:4], own), "round %d: %v and %v", round,
					got[0][:4], got[1][:4])
			}
		}).
		OK("filter_each_time", func(t *T) {
			w := []float32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
			m := (&model{}).Constant("w", onnxFloat, rknn.RealBytes(w...), 3, 2, 1, 2).Node("Conv", "y", "x", "w")
			ctx := t.Open(m.Input("x", onnxFloat, 1, 2, 2, 2).Output("y", onnxFloat, 1, 3, 2, 1), 0)
			for k, at := range []uintptr{ctx, ctx, t.Dup(ctx)} {
				var got []float32
				set := t.opsOf(k%2, map[stage]func(opCall) int{stageCompute: func(c opCall) int {
					got = slices.Clone(c.in[1].Floats())
					clear(c.out[0].Floats())
					return 0
				}})
				t.OK("register_custom_ops", at, set.op("Conv"), 1)
				t.Set(at, float32T, nhwc, make([]float32, 8))
				t.Run(at)
				t.Check(slices.Equal(got, w), "registration %d: the filter is %v, want %v", k, got, w)
			}
		}).
		No("left_after_a_refusal", func(t *T) {
			m := (&model{}).Node("Relu", "a", "x").Custom("Twice", "y", 1, 1, "a").Inner("a", onnxFloat, 1, 2)
			ctx := t.Open(m.Input("x", onnxFloat, 1, 2).Output("y", onnxFloat, 1, 2), 0)
			f := unary(func(v float32) float32 { return v + 100 })
			f[stageInit] = func(opCall) int { return skipOp }
			left := t.opsOf(0, f)
			t.OK("register_custom_ops", ctx, left.op("Relu"), 1)
			left.f[stageInit] = func(opCall) int { return -3 }
			t.Is(failed, "register_custom_ops", ctx, left.op("Relu"), 1)
			t.OK("register_custom_ops", ctx, t.opsOf(1, unary(double)).op("Twice"), 1)
			t.Set(ctx, float32T, undefined, []float32{-1, 2})
			t.Computes(ctx, 0, 4)
		}).
		No("nothing_to_leave_it_to", func(t *T) {
			set, ctx := t.opsOf(0, map[stage]func(opCall) int{stageInit: func(opCall) int { return skipOp }}),
				t.Open(foreign(1, 2), 0)
			t.Is(failed, "register_custom_ops", ctx, set.op("Twice"), 1)
			t.Says("Twice")
		}),
	rule("8.l_one_call_or_several", "an array registers several types; further calls add to them or replace them; a "+
		"type twice in one is PARAM_INVALID").
		OK("array", func(t *T) {
			m := (&model{}).Custom("Twice", "a", 1, 1, "x").Custom("Negate", "y", 1, 1, "a").Inner("a", onnxFloat, 1,
				2).Input("x", onnxFloat, 1, 2).Output("y", onnxFloat, 1, 2)
			second := t.opsOf(1, unary(func(v float32) float32 { return -v }))
			first, ctx := t.opsOf(0, unary(double)), t.Open(m, 0)
			t.OK("register_custom_ops", ctx, []customOp{*first.op("Twice"), *second.op("Negate")}, 2)
			t.Set(ctx, float32T, undefined, []float32{-1, 2})
			t.Computes(ctx, 2, -4)
		}).
		OK("calls", func(t *T) {
			second := t.opsOf(1, unary(func(v float32) float32 { return 10 * v }))
			first, ctx := t.opsOf(0, unary(double)), t.Open(foreign(1, 2), 0)
			t.OK("register_custom_ops", ctx, first.op("Twice"), 1)
			t.OK("register_custom_ops", ctx, second.op("Twice"), 1)
			t.wantCalls("init", "second init", "destroy")
			t.Set(ctx, float32T, undefined, []float32{-1, 2})
			t.Computes(ctx, -10, 20)
			t.OK("destroy", ctx)
			t.wantCalls("second prepare", "second compute", "second destroy")
		}).
		OK("built_in_types", func(t *T) {
			m := (&model{}).Node("Relu", "a", "x").Node("Neg", "y", "a").Input("x", onnxFloat, 2).Output("y", onnxFloat, 2)
			second := t.opsOf(1, unary(func(v float32) float32 { return v + 100 }))
			first, ctx := t.opsOf(0, unary(double)), t.Open(m, 0)
			t.OK("register_custom_ops", ctx, first.op("Relu"), 1)
			t.Set(ctx, float32T, undefined, []float32{-1, 2})
			t.Computes(ctx, 2, -4)
			t.OK("register_custom_ops", ctx, second.op("Neg"), 1)
			t.Computes(ctx, 98, 104)
		}).
		No("twice", func(t *T) {
			set := t.opsOf(0, unary(double))
			t.Bad("register_custom_ops", t.Open(foreign(1, 2), 0), []customOp{*set.op("Twice"), *set.op("Twice")}, 2)
		}),
	rule("8.m_info_only", "a context of COLLECT_MODEL_INFO_ONLY takes no operators").
		OK("without_the_flag", func(t *T) {
			t.OK("register_custom_ops", t.Open(foreign(1, 2), 0), t.opsOf(0, unary(double)).op("Twice"), 1)
		}).
		No("with", func(t *T) {
			t.Is(failed, "register_custom_ops", t.Open(foreign(1, 2), flagInfoOnly), t.opsOf(0, unary(double)).op("Twice"), 1)
			t.wantCalls()
		}),
	rule("8.n_duplicates", "a duplicate of a context with operators has them, with an init and a destroy of its own").
		OK("own", func(t *T) {
			set, a := t.opsOf(0, unary(double)), t.Open(foreign(1, 2), 0)
			t.OK("register_custom_ops", a, set.op("Twice"), 1)
			b := t.Dup(a)
			t.wantCalls("init", "init")
			t.OK("destroy", a)
			t.wantCalls("destroy")
			t.Set(b, float32T, undefined, []float32{-1, 2})
			t.Computes(b, -2, 4)
			t.OK("destroy", b)
			t.wantCalls("prepare", "compute", "destroy")
		}).
		No("init_fails", func(t *T) {
			n := 0
			f := unary(double)
			f[stageInit] = func(opCall) int { n++; return 1 - n }
			set, a := t.opsOf(0, f), t.Open(foreign(1, 2), 0)
			t.OK("register_custom_ops", a, set.op("Twice"), 1)
			t.Is(failed, "dup_context", &a, new(uintptr))
		}),
	rule("8.na_duplicates_whose_source_ended", "a duplicate takes operators after its source has ended").
		OK("replaced", func(t *T) {
			m := (&model{}).Constant("w", onnxFloat, rknn.RealBytes(10, 20), 2).Node("Add", "s", "x", "w").Node("Relu", "y",
				"s").Input("x", onnxFloat, 2).Output("y", onnxFloat, 2)
			set, a := t.opsOf(0, unary(double)), t.Open(m, 0)
			b := t.Dup(a)
			t.OK("destroy", a)
			t.OK("register_custom_ops", b, set.op("Relu"), 1)
			t.Set(b, float32T, undefined, []float32{-30, 2})
			t.Computes(b, -40, 44)
		}).
		No("ended", func(t *T) {
			set, a := t.opsOf(0, unary(double)), t.Open(relu(1, 2), 0)
			t.Dup(a)
			t.OK("destroy", a)
			t.Is(badContext, "register_custom_ops", a, set.op("Relu"), 1)
		}),
	rule("8.o_calls_back", "within a function rknn_query and rknn_mem_sync serve the context; a run, destroy and others "+
		"are FAIL").
		OK("query", func(t *T) {
			code, n := -99, inOutNum{}
			var ctx uintptr
			f := unary(double)
			compute := f[stageCompute]
			f[stageCompute] = func(c opCall) int {
				code = int(int32(t.Call("query", ctx, queryInOutNum, &n, 8))) +
					int(int32(t.Call("mem_sync", ctx, &c.out[0].Mem, 1)))
				return compute(c)
			}
			set := t.opsOf(0, f)
			ctx = t.Open(foreign(1, 2), 0)
			t.OK("register_custom_ops", ctx, set.op("Twice"), 1)
			t.Set(ctx, float32T, undefined, []float32{-1, 2})
			t.Computes(ctx, -2, 4)
			t.Check(code == 0 && n == inOutNum{In: 1, Out: 1}, "code %d, %v", code, n)
		}).
		No("run", func(t *T) {
			var codes []int
			var ctx uintptr
			f := unary(double)
			compute := f[stageCompute]
			f[stageCompute] = func(c opCall) int {
				codes = append(codes, int(int32(t.Call("run", ctx, nil))), int(int32(t.Call("destroy", ctx))),
					int(int32(t.Call("dup_context", &ctx, new(uintptr)))))
				return compute(c)
			}
			set := t.opsOf(0, f)
			ctx = t.Open(foreign(1, 2), 0)
			t.OK("register_custom_ops", ctx, set.op("Twice"), 1)
			t.Set(ctx, float32T, undefined, []float32{-1, 2})
			t.Computes(ctx, -2, 4)
			t.Check(slices.Equal(codes, []int{failed, failed, failed}), "codes %v", codes)
			t.Judged(false)
		}),
}
