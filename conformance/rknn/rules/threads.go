package rules

import (
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/anynpu/anynpu/conformance/rknn"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

var threads = []*Rule{
	rule("9.a_contexts_in_threads", "different contexts, duplicates too, run at the same time").
		OK("duplicates", func(t *T) {
			source := t.Open(relu(1, 64), 0)
			var all [8]uintptr
			for i := range all {
				all[i] = t.Dup(source)
			}
			t.parallel(len(all), func(own *T, i int) {
				x := make([]float32, 64)
				for k := range x {
					x[k] = float32(i*100 + k)
				}
				y := make([]float32, 64)
				for range 50 {
					own.OK("inputs_set", all[i], 1, []input{{Buf: cmem.First(x), Size: 256, Kind: float32T}})
					own.OK("run", all[i], nil)
					own.OK("outputs_get", all[i], 1, []output{{WantFloat: 1, IsPrealloc: 1, Buf: cmem.First(y), Size: 256}}, nil)
					own.Check(slices.Equal(x, y), "another thread's results")
				}
				runtime.KeepAlive(x)
				runtime.KeepAlive(y)
			})
			t.Judged(true)
		}).
		No("no_data", func(t *T) {
			source := t.Open(relu(1, 64), 0)
			t.parallel(8, func(own *T, _ int) {
				own.Is(failed, "run", source, nil)
			})
			t.Judged(false)
		}),
	rule("9.b_one_context_in_threads", "calls for one context follow one another: results are whole").
		OK("whole", func(t *T) {
			ctx := t.Open(relu(1, 64), 0)
			t.Set(ctx, float32T, undefined, make([]float32, 64))
			t.parallel(6, func(own *T, i int) {
				x, y := make([]float32, 64), make([]float32, 64)
				for k := range x {
					x[k] = float32(i + 1)
				}
				for range 50 {
					own.OK("inputs_set", ctx, 1, []input{{Buf: cmem.First(x), Size: 256, Kind: float32T}})
					own.OK("run", ctx, nil)
					own.OK("outputs_get", ctx, 1, []output{{WantFloat: 1, IsPrealloc: 1, Buf: cmem.First(y), Size: 256}}, nil)
					own.Check(slices.Min(y) == slices.Max(y), "results of two runs are mixed")
				}
				runtime.KeepAlive(x)
			})
			t.Judged(true)
		}).
		No("ended_by_one", func(t *T) {
			ctx := t.Open(relu(1, 64), 0)
			t.Set(ctx, float32T, undefined, make([]float32, 64))
			t.parallel(6, func(own *T, i int) {
				for n := range 200 {
					if i == 0 && n == 100 {
						own.OK("destroy", ctx)
					}
					c := own.Code("run", ctx, nil)
					own.Check(c == 0 || c == badContext, "rknn_run: %s", rknn.API.CodeName(c))
				}
			})
			t.Is(badContext, "run", ctx, nil)
		}),
	rule("9.c_memory_of_a_shared_context", "rknn_create_mem and rknn_destroy_mem through one context are safe in threads").
		OK("many", func(t *T) {
			ctx := t.Open(relu(1, 4), 0)
			t.parallel(8, func(own *T, i int) {
				for range 100 {
					p := own.Ptr("create_mem", ctx, 100+i)
					m := cmem.At[tensorMem](p)
					own.Check(int(m.Size) == 100+i, "another thread's memory")
					m.Bytes()[0] = 1
					own.OK("destroy_mem", ctx, p)
				}
			})
			t.Mem(ctx, 64)
		}).
		No("freed_once", func(t *T) {
			ctx := t.Open(relu(1, 4), 0)
			m := t.Ptr("create_mem", ctx, 64)
			var freed atomic.Int32
			t.parallel(8, func(own *T, _ int) {
				c := own.Code("destroy_mem", ctx, m)
				own.Check(c == 0 || c == badParam, "rknn_destroy_mem: %s", rknn.API.CodeName(c))
				if c == 0 {
					freed.Add(1)
				}
			})
			t.Check(freed.Load() == 1, "freed %d times", freed.Load())
			t.Bad("destroy_mem", ctx, m)
		}),
	rule("9.d_duplicates_in_threads", "threads may duplicate one source and end the duplicates at the same time").
		OK("many", func(t *T) {
			source := t.Open(relu(1, 4), 0)
			t.parallel(8, func(own *T, _ int) {
				for range 40 {
					from, to := source, uintptr(0)
					own.OK("dup_context", &from, &to)
					own.OK("destroy", to)
				}
			})
			t.works(source)
		}).
		No("ended_source", func(t *T) {
			source := t.Open(relu(1, 4), 0)
			t.OK("destroy", source)
			t.parallel(4, func(own *T, _ int) {
				from, to := source, uintptr(0)
				own.Is(badContext, "dup_context", &from, &to)
			})
			t.Judged(false)
		}),
	rule("9.e_release_in_another_thread", "buffers of rknn_outputs_get may be released by another thread").
		OK("released", func(t *T) {
			ctx, o := t.ran(), []output{{WantFloat: 1}}
			t.OK("outputs_get", ctx, 1, o, nil)
			t.parallel(4, func(own *T, _ int) {
				own.OK("outputs_release", ctx, 1, slices.Clone(o))
			})
			t.OK("outputs_release", ctx, 1, o)
		}).
		No("none", func(t *T) { t.Bad("outputs_release", t.ran(), 0, []output{{}}) }),
}
