package rules

import (
	"math"
	"slices"
	"time"

	"github.com/anynpu/anynpu/conformance/nnapi"
)

// openSum binds inputs of n elements and an output of capacity elements to an execution of Sum of open size.
func (t *T) openSum(n, capacity int) *nnapi.Run {
	r := &nnapi.Run{Handle: t.Execution(t.Compiled(t.Sum(0).Finish())), A: make([]float32, n), B: make([]float32, n),
		Y: make([]float32, capacity)}
	for i := range n {
		r.A[i], r.B[i] = float32(i), 50
	}
	for _, v := range [][]float32{r.A, r.B, r.Y} {
		t.Keep(v)
	}
	o := t.Type(nnapi.TensorFloat32, uint32(n))
	t.OK("Execution_setInput", r.Handle, 0, o, r.A, 4*n)
	t.OK("Execution_setInput", r.Handle, 1, o, r.B, 4*n)
	t.OK("Execution_setOutput", r.Handle, 0, nil, r.Y, 4*capacity)
	return r
}

var executions = []*Rule{
	rule("5.a_everything_bound", "every input and output is bound, or the execution has failed").
		OK("bound", func(t *T) { t.OK("Execution_compute", t.Ready().Handle) }).
		No("nothing", func(t *T) {
			e := unbound(t)
			t.Bad("Execution_compute", e)
			t.WrongState("Execution_getOutputOperandRank", e, 0, new(uint32))
		}).
		No("output", func(t *T) {
			e := unbound(t)
			t.OK("Execution_setInput", e, 0, nil, value, 8)
			t.OK("Execution_setInput", e, 1, nil, value, 8)
			t.Bad("Execution_compute", e)
		}),
	rule("5.d_open_input", "an input with open dimensions is completed by its type").
		OK("completed", func(t *T) {
			r := t.openSum(3, 3)
			t.OK("Execution_compute", r.Handle)
			t.Right(r)
		}).
		No("without_type", func(t *T) {
			e := t.Execution(t.Compiled(t.Sum(0).Finish()))
			t.Bad("Execution_setInput", e, 0, nil, value, 8)
			t.Bad("Execution_setInput", e, 0, t.Type(nnapi.TensorFloat32, 0), value, 8)
			t.Bad("Execution_setInput", e, 0, t.Type(nnapi.TensorFloat32), value, 8)
		}),
	rule("5.f_capacity", "an output of open size takes any memory that is large enough").
		OK("larger", func(t *T) {
			r := t.openSum(3, 7)
			t.OK("Execution_compute", r.Handle)
			t.Check(slices.Equal(r.Y, []float32{50, 51, 52, 0, 0, 0, 0}), "got %v", r.Y)
			sizes := []uint32{0}
			t.OK("Execution_getOutputOperandDimensions", r.Handle, 0, sizes)
			t.Check(sizes[0] == 3, "dimensions %v", sizes)
		}).
		No("smaller", func(t *T) {
			r := t.openSum(3, 2)
			t.Is(nnapi.OutputInsufficientSize, "Execution_compute", r.Handle)
			rank, sizes := new(uint32), []uint32{0}
			t.Is(nnapi.OutputInsufficientSize, "Execution_getOutputOperandRank", r.Handle, 0, rank)
			t.Is(nnapi.OutputInsufficientSize, "Execution_getOutputOperandDimensions", r.Handle, 0, sizes)
			t.Check(*rank == 1 && sizes[0] == 3, "rank %d, dimensions %v", *rank, sizes)
		}).
		No("started", func(t *T) {
			r := t.openSum(3, 2)
			t.Is(nnapi.OutputInsufficientSize, "Event_wait", t.Start(r))
		}),
	rule("5.g_contradiction", "dimensions that are given for an output must be those that come out").
		OK("same", func(t *T) {
			e := t.Execution(t.Compiled(t.Sum(0).Finish()))
			y, o := make([]float32, 2), t.Type(nnapi.TensorFloat32, 2)
			t.Keep(y)
			t.OK("Execution_setInput", e, 0, o, value, 8)
			t.OK("Execution_setInput", e, 1, o, value, 8)
			t.OK("Execution_setOutput", e, 0, o, y, 8)
			t.OK("Execution_compute", e)
		}).
		No("other", func(t *T) {
			e := t.Execution(t.Compiled(t.Sum(0).Finish()))
			y, o := make([]float32, 3), t.Type(nnapi.TensorFloat32, 2)
			t.Keep(y)
			t.OK("Execution_setInput", e, 0, o, value, 8)
			t.OK("Execution_setInput", e, 1, o, value, 8)
			t.OK("Execution_setOutput", e, 0, t.Type(nnapi.TensorFloat32, 3), y, 12)
			t.Is(nnapi.OpFailed, "Execution_compute", e)
		}),
	rule("5.h_other_sizes", "executions of one compilation have sizes of their own").
		OK("several", func(t *T) {
			c := t.Compiled(t.Sum(0).Finish())
			for _, n := range []int{1, 4, 2, 4} {
				e, o := t.Execution(c), t.Type(nnapi.TensorFloat32, uint32(n))
				x, y := make([]float32, n), make([]float32, n)
				x[n-1] = 3
				t.Keep(x)
				t.Keep(y)
				t.OK("Execution_setInput", e, 0, o, x, 4*n)
				t.OK("Execution_setInput", e, 1, o, x, 4*n)
				t.OK("Execution_setOutput", e, 0, o, y, 4*n)
				t.OK("Execution_compute", e)
				t.Check(y[n-1] == 6, "got %v", y)
			}
		}).
		No("not_of_this_one", func(t *T) {
			e := t.Execution(t.Compiled(t.Sum(4).Finish()))
			t.Bad("Execution_setInput", e, 0, t.Type(nnapi.TensorFloat32, 2), value, 8)
		}),
	rule("5.i_single_device", "measuring and time limits are for compilations for exactly one device").
		OK("one", func(t *T) {
			r := t.Ready()
			t.OK("Execution_setTimeout", r.Handle, uint64(math.MaxUint64))
			t.OK("Execution_setMeasureTiming", r.Handle, true)
			t.OK("Execution_compute", r.Handle)
			t.Right(r)
		}).
		No("all", func(t *T) {
			c := t.Compilation(finished(t))
			t.OK("Compilation_finish", c)
			r := t.Bound(c, 2)
			t.Bad("Execution_setMeasureTiming", r.Handle, true)
			t.Bad("Execution_setTimeout", r.Handle, 0)
			ev := &[]uintptr{1}[0]
			t.Bad("Execution_startComputeWithDependencies", r.Handle, nil, 0, 1, ev)
			t.Check(*ev == 0, "the event is %#x", *ev)
			t.OK("Execution_compute", r.Handle)
			t.Bad("Execution_setMeasureTiming", r.Handle, true)
			t.Bad("Execution_setTimeout", r.Handle, 0)
		}).
		No("over", func(t *T) {
			r := t.Ready()
			t.OK("Execution_setTimeout", r.Handle, 1)
			t.missed("Execution_compute", r.Handle)
		}),
	rule("5.ja_own_limit", "each computation of a reusable execution has the whole limit").
		OK("after_the_limit", func(t *T) {
			const limit = 50 * time.Millisecond
			e, _, y := t.limited(limit)
			for range 2 {
				t.inTime(e)
				t.Check(y[0] == 7, "got %d", y[0])
				time.Sleep(limit)
			}
		}).
		No("after_one_that_missed_it", func(t *T) {
			e, x, y := t.limited(50 * time.Millisecond)
			x[0] = -1 << 31
			t.missed("Execution_compute", e)
			x[0] = 0
			t.inTime(e)
			t.Check(y[0] == 7, "got %d", y[0])
		}),
	rule("5.j_duration", "durations are told of a measured computation").
		OK("measured", func(t *T) {
			e := computed(t)
			var last [4]uint64
			for code := range last {
				t.OK("Execution_getDuration", e, code, &last[code])
			}
			t.Check(last[0] <= last[1] && last[2] <= last[3] || last[0] == math.MaxUint64, "durations %v", last)
		}).
		No("not_measured", func(t *T) {
			e, d := ready(t), new(uint64)
			t.OK("Execution_compute", e)
			t.WrongState("Execution_getDuration", e, 0, d)
			t.Check(*d == math.MaxUint64, "duration %d", *d)
		}).
		No("code", func(t *T) {
			e := computed(t)
			for _, code := range []int32{-1, 4, 100} {
				t.Bad("Execution_getDuration", e, code, new(uint64))
			}
		}),
	rule("5.k_loop_limits", "the default limit of a loop is 2 s, the largest 15 s, and more is taken as that").
		OK("numbers", func(t *T) {
			a, b := uint64(t.Call("_getDefaultLoopTimeout")), uint64(t.Call("_getMaximumLoopTimeout"))
			t.Check(a == 2e9 && b == 15e9, "%d and %d", a, b)
			t.OK("Execution_setLoopTimeout", ready(t), uint64(math.MaxUint64))
		}).
		No("late", func(t *T) { t.WrongState("Execution_setLoopTimeout", computed(t), 1) }),
	rule("5.m_burst", "a burst computes executions of its compilation").
		OK("several", func(t *T) {
			c := compiled(t)
			b := t.New(burst.free, "Burst_create", c)
			for range 3 {
				r := t.Bound(c, 2)
				t.OK("Execution_burstCompute", r.Handle, b)
				t.Right(r)
			}
		}).
		No("other", func(t *T) { t.Bad("Execution_burstCompute", ready(t), newBurst(t)) }),
	rule("5.n_outputs_with_dependencies", "outputs of open size are not for a computation with dependencies").
		OK("known", func(t *T) {
			r, ev := t.Ready(), t.out(event.free)
			t.OK("Execution_startComputeWithDependencies", r.Handle, nil, 0, 0, ev)
			t.OK("Event_wait", *ev)
		}).
		No("open", func(t *T) {
			r := t.openSum(3, 3)
			t.None(nnapi.BadData, "Execution_startComputeWithDependencies", r.Handle, nil, 0, 0)
		}),
	rule("5.q_pairs", "a buffer has a length, and no buffer has none").
		OK("buffer", func(t *T) { t.OK("Execution_setInput", unbound(t), 0, nil, value, 8) }).
		No("no_length", func(t *T) {
			e := unbound(t)
			t.Bad("Execution_setInput", e, 0, nil, value, 0)
			t.Bad("Execution_setOutput", e, 0, nil, value, 0)
		}).
		No("no_buffer", func(t *T) {
			e := unbound(t)
			t.NullPointer("Execution_setInput", e, 0, nil, nil, 8)
			t.NullPointer("Execution_setOutput", e, 0, nil, nil, 8)
		}),
	rule("5.u_inputs_stay", "a computation does not change its inputs, nor what is behind an output").
		OK("bytes", func(t *T) {
			c, r := compiled(t), &nnapi.Run{A: []float32{1, 2, 9}, B: []float32{3, 4, 9}, Y: []float32{5, 6, 9}}
			for _, v := range [][]float32{r.A, r.B, r.Y} {
				t.Keep(v)
			}
			e := t.Execution(c)
			t.OK("Execution_setInput", e, 0, nil, r.A, 8)
			t.OK("Execution_setInput", e, 1, nil, r.B, 8)
			t.OK("Execution_setOutput", e, 0, nil, r.Y, 8)
			t.OK("Execution_compute", e)
			t.Check(slices.Equal(r.A, []float32{1, 2, 9}) && slices.Equal(r.B, []float32{3, 4, 9}) &&
				slices.Equal(r.Y, []float32{4, 6, 9}), "%v + %v = %v", r.A, r.B, r.Y)
		}).
		No("too_short", func(t *T) { t.Bad("Execution_setOutput", unbound(t), 0, nil, make([]float32, 1), 4) }),
	rule("5.v_dimension_queries", "dimensions are those of one output of the model").
		OK("first", func(t *T) { t.OK("Execution_getOutputOperandDimensions", computed(t), 0, make([]uint32, 1)) }).
		No("index", func(t *T) {
			e := computed(t)
			t.Bad("Execution_getOutputOperandRank", e, 1, new(uint32))
			t.Bad("Execution_getOutputOperandDimensions", e, 1, make([]uint32, 1))
		}),
	rule("11.f_running", "an execution that is freed while it runs ends as its event tells").
		OK("freed", func(t *T) {
			fd, signal := t.pipe()
			fence := t.New(event.free, "Event_createFromSyncFenceFd", fd)
			r, ev := t.Ready(), t.out(event.free)
			t.OK("Execution_startComputeWithDependencies", r.Handle, []uintptr{fence}, 1, 0, ev)
			t.Free(execution.free, r.Handle)
			signal()
			t.OK("Event_wait", *ev)
			t.Right(r)
		}).
		No("used", func(t *T) {
			r := t.Ready()
			t.Free(execution.free, r.Handle)
			t.Bad("Execution_compute", r.Handle)
		}),
	rule("11.g_busy", "an execution is computed once at a time").
		OK("afterwards", func(t *T) {
			r := t.Ready()
			t.OK("Execution_setReusable", r.Handle, true)
			t.OK("Event_wait", t.Start(r))
			t.OK("Execution_compute", r.Handle)
		}).
		No("meanwhile", func(t *T) {
			fd, signal := t.pipe()
			fence := t.New(event.free, "Event_createFromSyncFenceFd", fd)
			r, ev := t.Ready(), t.out(event.free)
			t.OK("Execution_setReusable", r.Handle, true)
			t.OK("Execution_startComputeWithDependencies", r.Handle, []uintptr{fence}, 1, 0, ev)
			t.WrongState("Execution_compute", r.Handle)
			t.WrongState("Execution_getOutputOperandRank", r.Handle, 0, new(uint32))
			t.WrongState("Execution_setTimeout", r.Handle, 0)
			signal()
			t.OK("Event_wait", *ev)
		}),
}
