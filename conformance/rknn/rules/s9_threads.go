package rules

import (
	"runtime"
	"slices"
	"sync"

	"github.com/anynpu/anynpu/conformance/rknn"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// together runs f in n threads and returns the first violation.
func (t *T) together(n int, f func(i int) string) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	first := ""
	for i := range n {
		wg.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			if s := f(i); s != "" {
				mu.Lock()
				first = s
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	t.Check(first == "", "%s", first)
}

var threads = []*Rule{
	rule("9.a_contexts_in_threads", "different contexts, duplicates too, run at the same time").
		OK("duplicates", func(t *T) {
			source := t.open(relu(1, 64), 0)
			var all [8]uintptr
			for i := range all {
				all[i] = t.dup(source)
			}
			t.together(len(all), func(i int) string {
				x := make([]float32, 64)
				for k := range x {
					x[k] = float32(i*100 + k)
				}
				y := make([]float32, 64)
				for range 50 {
					if c := t.Code("inputs_set", all[i], 1, []input{{buf: cmem.Address(&x[0]), size: 256, kind: float32T}}); c != 0 {
						return "rknn_inputs_set: " + rknn.API.CodeName(c)
					}
					if c := t.Code("run", all[i], nil); c != 0 {
						return "rknn_run: " + rknn.API.CodeName(c)
					}
					if c := t.Code("outputs_get", all[i], 1, []output{{wantFloat: 1, isPrealloc: 1, buf: cmem.Address(&y[0]),
						size: 256}},
						nil); c != 0 {
						return "rknn_outputs_get: " + rknn.API.CodeName(c)
					}
					if !slices.Equal(x, y) {
						return "another thread's results"
					}
				}
				runtime.KeepAlive(x)
				runtime.KeepAlive(y)
				return ""
			})
			t.Judged(true)
		}).
		No("no_data", func(t *T) {
			source := t.open(relu(1, 64), 0)
			t.together(8, func(int) string {
				if c := t.Code("run", source, nil); c != failed {
					return "rknn_run without data: " + rknn.API.CodeName(c)
				}
				return ""
			})
			t.Judged(false)
		}),
	rule("9.b_one_context_in_threads", "calls for one context follow one another: results are whole").
		OK("whole", func(t *T) {
			ctx := t.open(relu(1, 64), 0)
			t.set(ctx, float32T, undefined, make([]float32, 64))
			t.together(6, func(i int) string {
				x, y := make([]float32, 64), make([]float32, 64)
				for k := range x {
					x[k] = float32(i + 1)
				}
				for range 50 {
					codes := t.Code("inputs_set", ctx, 1, []input{{buf: cmem.Address(&x[0]), size: 256, kind: float32T}}) +
						t.Code("run", ctx, nil) +
						t.Code("outputs_get", ctx, 1, []output{{wantFloat: 1, isPrealloc: 1, buf: cmem.Address(&y[0]), size: 256}}, nil)
					if codes != 0 {
						return "a call was refused"
					}
					if slices.Min(y) != slices.Max(y) {
						return "results of two runs are mixed"
					}
				}
				runtime.KeepAlive(x)
				return ""
			})
			t.Judged(true)
		}).
		No("ended_by_one", func(t *T) {
			ctx := t.open(relu(1, 64), 0)
			t.set(ctx, float32T, undefined, make([]float32, 64))
			t.together(6, func(i int) string {
				for n := range 200 {
					if i == 0 && n == 100 {
						if c := t.Code("destroy", ctx); c != 0 {
							return "rknn_destroy: " + rknn.API.CodeName(c)
						}
					}
					if c := t.Code("run", ctx, nil); c != 0 && c != badContext {
						return "rknn_run: " + rknn.API.CodeName(c)
					}
				}
				return ""
			})
			t.Is(badContext, "run", ctx, nil)
		}),
	rule("9.c_memory_of_a_shared_context", "rknn_create_mem and rknn_destroy_mem through one context are safe in threads").
		OK("many", func(t *T) {
			ctx := t.open(relu(1, 4), 0)
			t.together(8, func(i int) string {
				for range 100 {
					p := t.Call("create_mem", ctx, 100+i)
					if p == 0 {
						return "rknn_create_mem gives NULL"
					}
					m := cmem.At[tensorMem](p)
					if int(m.size) != 100+i {
						return "another thread's memory"
					}
					m.bytes()[0] = 1
					if c := t.Code("destroy_mem", ctx, p); c != 0 {
						return "rknn_destroy_mem: " + rknn.API.CodeName(c)
					}
				}
				return ""
			})
			t.mem(ctx, 64)
		}).
		No("freed_once", func(t *T) {
			ctx := t.open(relu(1, 4), 0)
			m := t.Ptr("create_mem", ctx, 64)
			var mu sync.Mutex
			freed := 0
			t.together(8, func(int) string {
				switch c := t.Code("destroy_mem", ctx, m); c {
				case 0:
					mu.Lock()
					freed++
					mu.Unlock()
				case badParam:
				default:
					return rknn.API.CodeName(c)
				}
				return ""
			})
			t.Check(freed == 1, "freed %d times", freed)
			t.Bad("destroy_mem", ctx, m)
		}),
	rule("9.d_duplicates_in_threads", "threads may duplicate one source and end the duplicates at the same time").
		OK("many", func(t *T) {
			source := t.open(relu(1, 4), 0)
			t.together(8, func(int) string {
				for range 40 {
					from, to := source, uintptr(0)
					if c := t.Code("dup_context", &from, &to); c != 0 {
						return "rknn_dup_context: " + rknn.API.CodeName(c)
					}
					if c := t.Code("destroy", to); c != 0 {
						return "rknn_destroy: " + rknn.API.CodeName(c)
					}
				}
				return ""
			})
			t.works(source)
		}).
		No("ended_source", func(t *T) {
			source := t.open(relu(1, 4), 0)
			t.OK("destroy", source)
			t.together(4, func(int) string {
				from, to := source, uintptr(0)
				if c := t.Code("dup_context", &from, &to); c != badContext {
					return "rknn_dup_context: " + rknn.API.CodeName(c)
				}
				return ""
			})
			t.Judged(false)
		}),
	rule("9.e_release_in_another_thread", "buffers of rknn_outputs_get may be released by another thread").
		OK("released", func(t *T) {
			ctx, o := t.ran(), []output{{wantFloat: 1}}
			t.OK("outputs_get", ctx, 1, o, nil)
			t.together(4, func(int) string {
				if c := t.Code("outputs_release", ctx, 1, slices.Clone(o)); c != 0 {
					return rknn.API.CodeName(c)
				}
				return ""
			})
			t.OK("outputs_release", ctx, 1, o)
		}).
		No("none", func(t *T) { t.Bad("outputs_release", t.ran(), 0, []output{{}}) }),
}
