package rules

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/anynpu/anynpu/conformance/rknn"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// powers is a model that takes long: y = x, multiplied with a permutation of the columns that moves each by one,
// 24 times. y is x with its columns moved by 24, exactly.
const side = 320

func powers() *model {
	w := make([]float32, side*side)
	for i := range side {
		w[i*side+(i+1)%side] = 1
	}
	m := (&model{}).Constant("w", onnxFloat, rknn.RealBytes(w...), side, side)
	last := "x"
	for i := range 24 {
		next := fmt.Sprint("p", i)
		if i == 23 {
			next = "y"
		}
		m.Node("MatMul", next, last, "w")
		last = next
	}
	return m.Input("x", onnxFloat, side, side).Output("y", onnxFloat, side, side)
}

// numbered are the elements of run n of powers, and its results.
func numbered(n int) (x, y []float32) {
	x, y = make([]float32, side*side), make([]float32, side*side)
	for i := range side {
		for j := range side {
			v := float32((i*31+j*7)%200 + n)
			x[i*side+j], y[i*side+(j+24)%side] = v, v
		}
	}
	return x, y
}

const sideBytes = side * side * 4

// placed is a context of powers with memory of its own for input and output.
func (t *T) placed() (ctx uintptr, x, y *tensorMem) {
	ctx = t.Open(powers(), 0)
	x, y = t.Mem(ctx, sideBytes), t.Mem(ctx, sideBytes)
	t.Bind(ctx, x, t.Attr(ctx, queryInput, 0), float32T, -1)
	t.Bind(ctx, y, t.Attr(ctx, queryOutput, 0), float32T, -1)
	return ctx, x, y
}

var queues = []*Rule{
	rule("9.f_frames_in_threads", "what another thread fetches during runs is the result of the frame that "+
		"rknn_output_extend names, whole").
		OK("results_of_the_frame", func(t *T) {
			ctx := t.Open(relu(1, 3000), 0)
			x, y := make([]float32, 3000), make([]float32, 3000)
			in := input{Buf: cmem.First(x), Size: 12000, Kind: float32T}
			give := func(own *T, n int) {
				for i := range x {
					x[i] = float32(n)
				}
				own.OK("inputs_set", ctx, 1, []input{in})
				e := runExtend{NonBlock: 1}
				own.OK("run", ctx, &e)
				own.Check(int(e.Frame) == n, "frame_id %d of run %d", e.Frame, n)
			}
			give(t, 1)
			var over atomic.Bool
			t.parallel(2, func(own *T, i int) {
				if i == 0 {
					defer over.Store(true)
					for n := 2; n <= 120; n++ {
						give(own, n)
					}
					return
				}
				for last := uint64(0); !over.Load(); {
					e := outputExtend{}
					own.OK("outputs_get", ctx, 1, []output{{WantFloat: 1, IsPrealloc: 1, Buf: cmem.First(y), Size: 12000}}, &e)
					own.Check(e.Frame >= last && slices.Min(y) == float32(e.Frame) && slices.Max(y) == float32(e.Frame),
						"frame %d has results of %g to %g", e.Frame, slices.Min(y), slices.Max(y))
					last = e.Frame
				}
			})
			t.Keep(x)
			last := t.Floats(ctx)
			t.Check(last[0] == 120 && last[2999] == 120, "results of %g to %g", last[0], last[2999])
		}).
		No("none_yet", func(t *T) {
			ctx := t.Open(relu(1, 3000), flagAsync)
			e := outputExtend{Frame: 77}
			t.Is(failed, "outputs_get", ctx, 1, []output{{}}, &e)
		}),
	rule("9.g_waits_in_threads", "rknn_wait succeeds for every thread after a run, and names the last frame").
		OK("each", func(t *T) {
			ctx := t.Open(relu(1, 4), flagAsync)
			t.works(ctx)
			t.works(ctx)
			t.parallel(4, func(own *T, _ int) {
				for range 20 {
					e := runExtend{Frame: 9, TimeoutMS: 1}
					own.OK("wait", ctx, &e)
					own.Check(e.Frame == 2, "frame_id %d", e.Frame)
				}
			})
			t.Gives(ctx, 0, 2, 0, 4)
		}).
		No("before", func(t *T) {
			ctx := t.Open(relu(1, 4), flagAsync)
			t.parallel(4, func(own *T, _ int) { own.Is(failed, "wait", ctx, nil) })
			t.Is(failed, "wait", ctx, nil)
		}),
	rule("9.h_destroy_behind_a_long_run",
		"when rknn_destroy returns, a run in progress has ended, and nothing is written "+
			"any more: its results lie whole in bound memory, or it was refused").
		OK("whole", func(t *T) {
			for round := range 4 {
				ctx, x, y := t.placed()
				in, want := numbered(3)
				rknn.Fill(x, in...)
				var started sync.WaitGroup
				var code atomic.Int64
				var ended []byte // what lay in the memory when rknn_destroy returned
				code.Store(99)
				started.Add(1)
				t.parallel(2, func(own *T, i int) {
					if i == 0 {
						started.Done()
						code.Store(int64(own.Code("run", ctx, nil)))
						return
					}
					started.Wait()
					for range round * 2000 { // the run is on its way, or over
						runtime.Gosched()
					}
					own.OK("destroy", ctx)
					ended = slices.Clone(y.Bytes())
				})
				c := int(code.Load())
				t.Check(c == success || c == badContext, "rknn_run: %s", rknn.API.CodeName(c))
				got := cmem.As[float32](y.Bytes())
				t.Check(c != success || slices.Equal(got, want), "results are not whole")
				t.Check(bytes.Equal(ended, y.Bytes()), "the run was still writing")
			}
			t.works(t.Open(relu(1, 4), 0))
		}).
		No("later", func(t *T) {
			ctx, _, _ := t.placed()
			t.OK("destroy", ctx)
			t.parallel(3, func(own *T, _ int) { own.Is(badContext, "run", ctx, nil) })
			t.Is(badContext, "wait", ctx, nil)
		}),
	rule("9.i_memory_that_ends_during_runs", "memory may be freed while a run uses it: the run succeeds or is FAIL, and "+
		"other memory can be bound").
		OK("freed", func(t *T) {
			ctx := t.Open(powers(), 0)
			in, want := numbered(5)
			a, b := t.Attr(ctx, queryInput, 0), t.Attr(ctx, queryOutput, 0)
			for round := range 4 {
				x, y := t.Mem(ctx, sideBytes), t.Mem(ctx, sideBytes)
				t.Bind(ctx, x, a, float32T, -1)
				t.Bind(ctx, y, b, float32T, -1)
				rknn.Fill(x, in...)
				ended := []*tensorMem{x, y}[round%2]
				t.parallel(2, func(own *T, i int) {
					if i == 1 {
						own.OK("destroy_mem", ctx, cmem.Address(ended))
						return
					}
					c := own.Code("run", ctx, nil)
					own.Check(c == success || c == failed, "rknn_run: %s", rknn.API.CodeName(c))
					if c == success && ended == x {
						own.Check(slices.Equal(cmem.As[float32](y.Bytes()), want), "results of memory that was freed")
					}
				})
			}
			x, y := t.Mem(ctx, sideBytes), t.Mem(ctx, sideBytes)
			t.Bind(ctx, x, a, float32T, -1)
			t.Bind(ctx, y, b, float32T, -1)
			rknn.Fill(x, in...)
			t.Run(ctx)
			t.Check(slices.Equal(cmem.As[float32](y.Bytes()), want), "results in new memory")
		}).
		No("freed_before", func(t *T) {
			ctx, x, _ := t.placed()
			t.OK("destroy_mem", ctx, cmem.Address(x))
			t.Is(failed, "run", ctx, nil)
		}),
	rule("9.j_inputs_set_behind_a_run", "inputs and shapes that another thread sets while a run is in progress belong to "+
		"later runs").
		OK("whole", func(t *T) {
			ctx := t.Open(powers(), 0)
			one, first := numbered(1)
			two, second := numbered(2)
			for _, v := range [][]float32{one, two} {
				t.Keep(v)
			}
			give := func(own *T, v []float32) {
				own.OK("inputs_set", ctx, 1, []input{{Buf: cmem.First(v), Size: sideBytes, Kind: float32T}})
			}
			give(t, one)
			t.parallel(2, func(own *T, i int) {
				for k := range 6 {
					if i == 0 {
						y := make([]float32, side*side)
						own.OK("run", ctx, nil)
						own.OK("outputs_get", ctx, 1, []output{{WantFloat: 1, IsPrealloc: 1, Buf: cmem.First(y), Size: sideBytes}},
							nil)
						own.Check(slices.Equal(y, first) || slices.Equal(y, second), "results of a mixture of inputs")
						continue
					}
					give(own, [][]float32{two, one}[k%2])
				}
			})
			give(t, two)
			t.Computes(ctx, second...)
		}).
		No("shape_without_inputs", func(t *T) {
			ctx := t.Open(dynamic(), 0)
			t.Set(ctx, float32T, nhwc, make([]float32, 24))
			t.Run(ctx)
			t.parallel(2, func(own *T, i int) {
				if i == 0 {
					c := own.Code("run", ctx, nil)
					own.Check(c == success || c == failed, "rknn_run: %s", rknn.API.CodeName(c))
					return
				}
				own.OK("set_input_shapes", ctx, 1, shapeAttr(0, nhwc, 1, 1, 3, 2))
			})
			t.Is(failed, "run", ctx, nil)
		}),
	rule("9.k_buffers_of_many_frames", "each buffer of rknn_outputs_get is released once, in any order and by any "+
		"thread, and holds the results of its own frame until then").
		OK("any_order", func(t *T) {
			ctx := t.Open(relu(1, 500), 0)
			x := make([]float32, 500)
			var o []output
			for n := range 24 {
				for i := range x {
					x[i] = float32(n*1000 + i)
				}
				t.Set(ctx, float32T, undefined, x)
				t.Run(ctx)
				one := []output{{WantFloat: 1}}
				t.OK("outputs_get", ctx, 1, one, nil)
				o = append(o, one[0])
			}
			t.parallel(4, func(own *T, i int) {
				for k := range 6 {
					n := (k*4 + i) * 5 % 24
					got := cmem.Span[float32](o[n].Buf, 500)
					own.Check(got[0] == float32(n*1000) && got[499] == float32(n*1000+499), "buffer %d holds %g to %g", n, got[0],
						got[499])
					own.OK("outputs_release", ctx, 1, []output{o[n]})
				}
			})
			t.works(t.Open(relu(1, 4), 0))
		}).
		No("ended", func(t *T) {
			ctx := t.ran()
			o := []output{{}}
			t.OK("outputs_get", ctx, 1, o, nil)
			t.OK("destroy", ctx)
			t.parallel(3, func(own *T, _ int) { own.Is(badContext, "outputs_release", ctx, 1, slices.Clone(o)) })
			t.Is(badContext, "outputs_release", ctx, 1, o)
		}),
}
