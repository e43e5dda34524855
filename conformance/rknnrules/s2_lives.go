package rknnrules

import "slices"

var _ = section(
	rule("2.o_collect_perf", "COLLECT_PERF has times per operator collected").
		ok("with", func(t *T) {
			ctx, d := t.open(relu(1, 4), flagPerf), perfDetail{}
			t.works(ctx)
			t.ok("query", ctx, queryPerfDetail, &d, 16)
			t.check(d.length > 0, "no times")
		}).
		no("without", func(t *T) {
			ctx, d := t.open(relu(1, 4), 0), perfDetail{}
			t.works(ctx)
			t.ok("query", ctx, queryPerfDetail, &d, 16)
			t.check(d.length == 0, "%d bytes of times", d.length)
			t.judged(false)
		}),
	rule("2.p_info_only", "a context of COLLECT_MODEL_INFO_ONLY answers queries and refuses all else").
		ok("query", func(t *T) {
			ctx, m := t.open(relu(1, 4), flagInfoOnly), memSize{}
			t.ok("query", ctx, queryMemSize, &m, structSizeMemSize)
			t.check(m.weight > 0 && m.internal > 0, "sizes %d and %d", m.weight, m.internal)
		}).
		no("run", func(t *T) {
			ctx := t.open(relu(1, 4), flagInfoOnly)
			t.is(failed, "inputs_set", ctx, 1, []input{t.given(0, float32T, undefined, []float32{1, 2, 3, 4})})
			t.says("RKNN_FLAG_COLLECT_MODEL_INFO_ONLY")
			t.is(failed, "run", ctx, nil)
			t.is(failed, "outputs_get", ctx, 1, []output{{}}, nil)
		}),
	rule("2.q_outside", "a context of MEM_ALLOC_OUTSIDE runs when every input and output has memory; missing internal "+
		"and weight memory is tolerated").
		ok("all_bound", func(t *T) {
			ctx := t.open(relu(1, 4), flagOutside)
			x, y := t.mem(ctx, 16), t.mem(ctx, 16)
			t.bind(ctx, x, t.attr(ctx, queryInput, 0), float32T, -1)
			t.bind(ctx, y, t.attr(ctx, queryOutput, 0), float32T, -1)
			fill[float32](x, -1, 2, -3, 4)
			t.run(ctx)
			got := as[float32](y.bytes())
			t.check(slices.Equal(got, []float32{0, 2, 0, 4}), "got %v", got)
		}).
		no("no_input", func(t *T) {
			ctx := t.open(relu(1, 4), flagOutside)
			t.set(ctx, float32T, undefined, []float32{1, 2, 3, 4})
			t.is(failed, "run", ctx, nil)
			t.says("RKNN_FLAG_MEM_ALLOC_OUTSIDE", `"x"`)
		}).
		no("no_output", func(t *T) {
			ctx := t.open(relu(1, 4), flagOutside)
			t.bind(ctx, t.mem(ctx, 16), t.attr(ctx, queryInput, 0), float32T, -1)
			t.is(failed, "run", ctx, nil)
			t.says(`"y"`)
		}),
	rule("2.r_internal_outside", "a context of INTERNAL_ALLOC_OUTSIDE takes memory for intermediate results").
		ok("set", func(t *T) {
			ctx, m := t.open(relu(1, 4), flagInternal), memSize{}
			t.ok("query", ctx, queryMemSize, &m, structSizeMemSize)
			t.ok("set_internal_mem", ctx, address(t.mem(ctx, int(m.internal))))
			t.works(ctx)
		}).
		no("too_small", func(t *T) {
			ctx := t.open(relu(1, 4), flagInternal)
			t.bad("set_internal_mem", ctx, address(t.mem(ctx, 1)))
			t.says("mem->size is 1", "total_internal_size")
		}),
	rule("2.s_fences", "a context of a FENCE flag answers queries and fails its runs: there is no fence").
		ok("query", func(t *T) { t.attr(t.open(relu(1, 4), flagFenceIn|flagFenceOut), queryInput, 0) }).
		no("run", func(t *T) {
			for _, flag := range []uint32{flagFenceIn, flagFenceOut} {
				ctx := t.open(relu(1, 4), flag)
				t.set(ctx, float32T, undefined, []float32{1, 2, 3, 4})
				t.is(failed, "run", ctx, nil)
				t.says("fence")
			}
		}),
	rule("2.t_destroy", "ends a context with buffers that were not released; memory of the program stays").
		ok("unreleased", func(t *T) {
			ctx := t.open(relu(1, 4), 0)
			t.works(ctx)
			for range 3 {
				t.ok("outputs_get", ctx, 1, []output{{wantFloat: 1}}, nil)
			}
			t.ok("destroy", ctx)
		}).
		ok("memory_stays", func(t *T) {
			ctx := t.open(relu(1, 4), 0)
			m := t.mem(ctx, 64)
			t.ok("destroy", ctx)
			fill[byte](m, 1, 2, 3)
			t.ok("destroy_mem", ctx, address(m))
		}).
		no("released_later", func(t *T) {
			ctx, o := t.open(relu(1, 4), 0), []output{{wantFloat: 1}}
			t.works(ctx)
			t.ok("outputs_get", ctx, 1, o, nil)
			t.ok("destroy", ctx)
			t.is(badContext, "outputs_release", ctx, 1, o)
		}),
	rule("2.u_ended_and_foreign_handles", "an ended, foreign or zero handle is CTX_INVALID to every function").
		ok("living", func(t *T) { t.works(t.open(relu(1, 4), 0)) }).
		no("twice", func(t *T) {
			ctx := t.open(relu(1, 4), 0)
			t.ok("destroy", ctx)
			t.is(badContext, "destroy", ctx)
		}).
		no("every_function", func(t *T) {
			ended, living := t.open(relu(1, 4), 0), t.open(relu(1, 4), 0)
			m := address(t.mem(living, 4096))
			t.ok("destroy", ended)
			op := newOp("AnyOp")
			for _, ctx := range []uintptr{0, 1, 8, ended, address(new([64]byte)), ^uintptr(0)} {
				t.is(badContext, "destroy", ctx)
				t.is(badContext, "query", ctx, queryInOutNum, new(inOutNum), 8)
				t.is(badContext, "inputs_set", ctx, 1, []input{t.given(0, float32T, undefined, []float32{1, 2, 3, 4})})
				t.is(badContext, "set_batch_core_num", ctx, 1)
				t.is(badContext, "set_core_mask", ctx, 0)
				t.is(badContext, "run", ctx, nil)
				t.is(badContext, "wait", ctx, nil)
				t.is(badContext, "outputs_get", ctx, 1, []output{{}}, nil)
				t.is(badContext, "outputs_release", ctx, 1, []output{{}})
				t.is(badContext, "set_weight_mem", ctx, m)
				t.is(badContext, "set_internal_mem", ctx, m)
				t.is(badContext, "set_io_mem", ctx, m, t.attr(living, queryInput, 0))
				t.is(badContext, "set_input_shape", ctx, shapeAttr(0, undefined, 1, 4))
				t.is(badContext, "set_input_shapes", ctx, 1, shapeAttr(0, undefined, 1, 4))
				t.is(badContext, "mem_sync", ctx, m, 1)
				t.is(badContext, "register_custom_ops", ctx, op, 1)
				t.null("create_mem", ctx, 64)
				t.null("create_mem2", ctx, uint64(64), uint64(0))
				t.null("create_mem_from_fd", ctx, -1, address(new([64]byte)), 64, 0)
			}
		}),
	rule("2.w_log_level", "RKNN_LOG_LEVEL 3 and above has rknn_init tell versions, target and kind of the model; "+
		"without it only errors are told").
		ok("info", func(t *T) {
			t.open(relu(1, 4), 0)
			t.logs("model loaded", "version", "target", "rk3588", "static", "driver")
			t.open(dynamic(), 0)
			t.logs("3 listed shapes")
		}).with("ANYNPU_LOG=", "RKNN_LOG_LEVEL=3").
		no("errors", func(t *T) {
			t.works(t.open(relu(1, 4), 0))
			t.check(t.lines == nil || t.lines.take() == "", "something was told")
			t.is(badContext, "run", 0, nil)
			t.logs("rknn_run")
		}).with("ANYNPU_LOG=", "RKNN_LOG_LEVEL=0").
		ok("of_other_forms", func(t *T) { openRelu(t) }).with("ANYNPU_LOG=", "RKNN_LOG_LEVEL=loud"),
	rule("2.v_handles_are_not_reused_soon", "a handle is never given again soon").
		ok("many", func(t *T) {
			seen := map[uintptr]bool{}
			for range 300 {
				ctx := new(uintptr)
				t.ok("init", ctx, relu(1, 4).bytes(), len(relu(1, 4).bytes()), 0, nil)
				t.check(*ctx != 0 && !seen[*ctx], "the handle %#x again", *ctx)
				seen[*ctx] = true
				t.ok("destroy", *ctx)
			}
		}).
		no("old_one", func(t *T) {
			old := t.open(relu(1, 4), 0)
			t.ok("destroy", old)
			for range 20 {
				t.open(relu(1, 4), 0)
			}
			t.is(badContext, "run", old, nil)
		}),
)
