package rules

import (
	"slices"

	"github.com/anynpu/anynpu/conformance/rknn"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

var lives = []*Rule{
	rule("2.o_collect_perf", "COLLECT_PERF has times per operator collected").
		OK("with", func(t *T) {
			ctx, d := t.Open(relu(1, 4), flagPerf), perfDetail{}
			t.works(ctx)
			t.OK("query", ctx, queryPerfDetail, &d, 16)
			t.Check(d.Length > 0, "no times")
		}).
		No("without", func(t *T) {
			ctx, d := t.Open(relu(1, 4), 0), perfDetail{}
			t.works(ctx)
			t.OK("query", ctx, queryPerfDetail, &d, 16)
			t.Check(d.Length == 0, "%d bytes of times", d.Length)
			t.Judged(false)
		}),
	rule("2.p_info_only", "a context of COLLECT_MODEL_INFO_ONLY answers queries and refuses all else").
		OK("query", func(t *T) {
			ctx, m := t.Open(relu(1, 4), flagInfoOnly), memSize{}
			t.OK("query", ctx, queryMemSize, &m, structSizeMemSize)
			t.Check(m.Weight > 0 && m.Internal > 0, "sizes %d and %d", m.Weight, m.Internal)
		}).
		No("run", func(t *T) {
			ctx := t.Open(relu(1, 4), flagInfoOnly)
			t.Is(failed, "inputs_set", ctx, 1, []input{t.Given(0, float32T, undefined, []float32{1, 2, 3, 4})})
			t.Says("RKNN_FLAG_COLLECT_MODEL_INFO_ONLY")
			t.Is(failed, "run", ctx, nil)
			t.Is(failed, "outputs_get", ctx, 1, []output{{}}, nil)
		}),
	rule("2.q_outside", "a context of MEM_ALLOC_OUTSIDE runs when every input and output has memory; missing internal "+
		"and weight memory is tolerated").
		OK("all_bound", func(t *T) {
			ctx := t.Open(relu(1, 4), flagOutside)
			x, y := t.Mem(ctx, 16), t.Mem(ctx, 16)
			t.Bind(ctx, x, t.Attr(ctx, queryInput, 0), float32T, -1)
			t.Bind(ctx, y, t.Attr(ctx, queryOutput, 0), float32T, -1)
			rknn.Fill[float32](x, -1, 2, -3, 4)
			t.Run(ctx)
			got := cmem.As[float32](y.Bytes())
			t.Check(slices.Equal(got, []float32{0, 2, 0, 4}), "got %v", got)
		}).
		No("no_input", func(t *T) {
			ctx := t.Open(relu(1, 4), flagOutside)
			t.Set(ctx, float32T, undefined, []float32{1, 2, 3, 4})
			t.Is(failed, "run", ctx, nil)
			t.Says("RKNN_FLAG_MEM_ALLOC_OUTSIDE", `"x"`)
		}).
		No("no_output", func(t *T) {
			ctx := t.Open(relu(1, 4), flagOutside)
			t.Bind(ctx, t.Mem(ctx, 16), t.Attr(ctx, queryInput, 0), float32T, -1)
			t.Is(failed, "run", ctx, nil)
			t.Says(`"y"`)
		}),
	rule("2.r_internal_outside", "a context of INTERNAL_ALLOC_OUTSIDE takes memory for intermediate results").
		OK("set", func(t *T) {
			ctx, m := t.Open(relu(1, 4), flagInternal), memSize{}
			t.OK("query", ctx, queryMemSize, &m, structSizeMemSize)
			t.OK("set_internal_mem", ctx, cmem.Address(t.Mem(ctx, int(m.Internal))))
			t.works(ctx)
		}).
		No("too_small", func(t *T) {
			ctx := t.Open(relu(1, 4), flagInternal)
			t.Bad("set_internal_mem", ctx, cmem.Address(t.Mem(ctx, 1)))
			t.Says("mem->size is 1", "total_internal_size")
		}),
	rule("2.s_fences", "a context of a FENCE flag answers queries and fails its runs: there is no fence").
		OK("query", func(t *T) { t.Attr(t.Open(relu(1, 4), flagFenceIn|flagFenceOut), queryInput, 0) }).
		No("run", func(t *T) {
			for _, flag := range []uint32{flagFenceIn, flagFenceOut} {
				ctx := t.Open(relu(1, 4), flag)
				t.Set(ctx, float32T, undefined, []float32{1, 2, 3, 4})
				t.Is(failed, "run", ctx, nil)
				t.Says("fence")
			}
		}),
	rule("2.t_destroy", "ends a context with buffers that were not released; memory of the program stays").
		OK("unreleased", func(t *T) {
			ctx := t.Open(relu(1, 4), 0)
			t.works(ctx)
			for range 3 {
				t.OK("outputs_get", ctx, 1, []output{{WantFloat: 1}}, nil)
			}
			t.OK("destroy", ctx)
		}).
		OK("memory_stays", func(t *T) {
			ctx := t.Open(relu(1, 4), 0)
			m := t.Mem(ctx, 64)
			t.OK("destroy", ctx)
			rknn.Fill[byte](m, 1, 2, 3)
			t.OK("destroy_mem", ctx, cmem.Address(m))
		}).
		No("released_later", func(t *T) {
			ctx, o := t.Open(relu(1, 4), 0), []output{{WantFloat: 1}}
			t.works(ctx)
			t.OK("outputs_get", ctx, 1, o, nil)
			t.OK("destroy", ctx)
			t.Is(badContext, "outputs_release", ctx, 1, o)
		}),
	rule("2.u_ended_and_foreign_handles", "an ended, foreign or zero handle is CTX_INVALID to every function").
		OK("living", func(t *T) { t.works(t.Open(relu(1, 4), 0)) }).
		No("twice", func(t *T) {
			ctx := t.Open(relu(1, 4), 0)
			t.OK("destroy", ctx)
			t.Is(badContext, "destroy", ctx)
		}).
		No("every_function", func(t *T) {
			ended, living := t.Open(relu(1, 4), 0), t.Open(relu(1, 4), 0)
			m := cmem.Address(t.Mem(living, 4096))
			t.OK("destroy", ended)
			op := newOp("AnyOp")
			for _, ctx := range []uintptr{0, 1, 8, ended, cmem.Address(new([64]byte)), ^uintptr(0)} {
				t.Is(badContext, "destroy", ctx)
				t.Is(badContext, "query", ctx, queryInOutNum, new(inOutNum), 8)
				t.Is(badContext, "inputs_set", ctx, 1, []input{t.Given(0, float32T, undefined, []float32{1, 2, 3, 4})})
				t.Is(badContext, "set_batch_core_num", ctx, 1)
				t.Is(badContext, "set_core_mask", ctx, 0)
				t.Is(badContext, "run", ctx, nil)
				t.Is(badContext, "wait", ctx, nil)
				t.Is(badContext, "outputs_get", ctx, 1, []output{{}}, nil)
				t.Is(badContext, "outputs_release", ctx, 1, []output{{}})
				t.Is(badContext, "set_weight_mem", ctx, m)
				t.Is(badContext, "set_internal_mem", ctx, m)
				t.Is(badContext, "set_io_mem", ctx, m, t.Attr(living, queryInput, 0))
				t.Is(badContext, "set_input_shape", ctx, shapeAttr(0, undefined, 1, 4))
				t.Is(badContext, "set_input_shapes", ctx, 1, shapeAttr(0, undefined, 1, 4))
				t.Is(badContext, "mem_sync", ctx, m, 1)
				t.Is(badContext, "register_custom_ops", ctx, op, 1)
				t.Null("create_mem", ctx, 64)
				t.Null("create_mem2", ctx, uint64(64), uint64(0))
				t.Null("create_mem_from_fd", ctx, -1, cmem.Address(new([64]byte)), 64, 0)
			}
		}),
	rule("2.w_log_level", "RKNN_LOG_LEVEL 3 and above has rknn_init tell versions, target and kind of the model; "+
		"without it only errors are told").
		OK("info", func(t *T) {
			t.Open(relu(1, 4), 0)
			t.Logs("model loaded", "version", "target", "rk3588", "static", "driver")
			t.Open(dynamic(), 0)
			t.Logs("3 listed shapes")
		}).With("ANYNPU_LOG=", "RKNN_LOG_LEVEL=3").
		No("errors", func(t *T) {
			t.works(t.Open(relu(1, 4), 0))
			t.Check(len(t.TakeLog()) == 0, "something was told")
			t.Is(badContext, "run", 0, nil)
			t.Logs("rknn_run")
		}).With("ANYNPU_LOG=", "RKNN_LOG_LEVEL=0").
		OK("of_other_forms", func(t *T) { openRelu(t) }).With("ANYNPU_LOG=", "RKNN_LOG_LEVEL=loud"),
	rule("2.v_handles_are_not_reused_soon", "a handle is never given again soon").
		OK("many", func(t *T) {
			seen := map[uintptr]bool{}
			for range 300 {
				ctx := new(uintptr)
				t.OK("init", ctx, relu(1, 4).Bytes(), len(relu(1, 4).Bytes()), 0, nil)
				t.Check(*ctx != 0 && !seen[*ctx], "the handle %#x again", *ctx)
				seen[*ctx] = true
				t.OK("destroy", *ctx)
			}
		}).
		No("old_one", func(t *T) {
			old := t.Open(relu(1, 4), 0)
			t.OK("destroy", old)
			for range 20 {
				t.Open(relu(1, 4), 0)
			}
			t.Is(badContext, "run", old, nil)
		}),
}
