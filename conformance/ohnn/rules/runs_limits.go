package rules

import (
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/conformance/ohnn"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// stopped are the rules of asynchronous runs that are ended, by time or with their executor, and of what they use.
var stopped = []*Rule{
	forbidden(rule("s8_queue_limit", "a limit counts from the call: a run whose time is over behind another is told "+
		"TIMEOUT without outputs, the others run")).
		No("behind_a_long_one", func(t *T) {
			q := newQueue()
			e, in, out, first := t.busy(q, 1)
			late, last := q.user(), q.user()
			other := []uintptr{t.newTensor("Create", 0, t.Ptr("Tensor_GetTensorDesc", out[0]))}
			t.Keep(other)
			t.OK("Executor_RunAsync", e, in, 2, other, 1, 1, late)
			t.OK("Executor_RunAsync", e, in, 2, out, 1, 0, last)
			got := q.wait(3)
			byUser := map[uintptr]end{}
			for _, x := range got {
				byUser[x.user] = x
			}
			t.refusedEnd(byUser[late], late, timedOut)
			for _, u := range []uintptr{first[0], last} {
				x := byUser[u]
				t.Check(x.code == success && x.outputs == cmem.First(out) && x.n == 1, "a run without a limit was told %+v", x)
			}
			t.Check(got[2].user == last, "the last run ended before the others")
			t.Call("Executor_Destroy", &e)
			t.Check(len(q.all()) == 3, "%d callbacks of 3 runs", len(q.all()))
		}).In(ohnn.Manual).
		No("stopped_and_used_again", func(t *T) {
			q := newQueue()
			e, in, out, _ := t.busy(q, 0)
			for i := range 3 {
				u := q.user()
				t.OK("Executor_RunAsync", e, in, 2, out, 1, 1, u)
				t.refusedEnd(q.wait(i + 1)[i], u, timedOut)
			}
			u := q.user()
			t.OK("Executor_RunAsync", e, in, 2, out, 1, 600000, u)
			x := q.wait(4)[3]
			t.Check(x.user == u && x.code == success && x.outputs == cmem.First(out), "the run after them was told %+v", x)
			t.Judged(false)
		}).In(ohnn.Manual).
		No("negative", func(t *T) {
			in, out := t.pair()
			e, q := twoFloats(t), newQueue()
			if t.Mode == ohnn.Reference {
				t.Is(forbid, "Executor_RunAsync", e, in, 2, out, 1, int32(-1), 1)
				return
			}
			t.OK("Executor_SetOnRunDone", e, queueDone(0))
			for _, timeout := range []int32{-1, -1 << 31} {
				t.Bad("Executor_RunAsync", e, in, 2, out, 1, timeout, q.user())
			}
			t.Call("Executor_Destroy", &e)
			t.Check(len(q.all()) == 0, "%d callbacks of refused runs", len(q.all()))
		}).
		OK("none_and_long", func(t *T) {
			q, e := newQueue(), t.asynchronous()
			for i, timeout := range []int32{0, 1<<31 - 1, 600000} {
				r := t.queuedRun(q, 2, 3, i)
				t.start(e, r, timeout)
				t.ended(q.wait(i + 1)[i], r)
			}
		}).In(ohnn.Manual),
	forbidden(rule("s8_queue_destroy", "an executor may end with runs under way and waiting: each is called back exactly "+
		"once by then, as done or as FAILED without outputs")).
		No("behind_a_long_one", func(t *T) {
			q := newQueue()
			e, _, out, users := t.busy(q, 60) // more than a busy machine does before the next call
			t.Call("Executor_Destroy", &e)
			t.Check(e == 0, "the variable holds %#x", e)
			got := q.all()
			t.Check(len(got) == len(users), "%d callbacks of %d runs when the executor is gone", len(got), len(users))
			for i, x := range got {
				t.Check(x.user == users[i], "callback %d has the user data %d, want %d", i, x.user, users[i])
				if x.code == success {
					t.Check(x.outputs == cmem.First(out) && x.n == 1, "a run that is done was told %+v", x)
				} else {
					t.refusedEnd(x, users[i], failed)
				}
			}
			t.Check(got[len(got)-1].code == failed, "the last of %d long runs was not ended", len(got))
			t.Judged(false)
		}).In(ohnn.Manual).
		OK("in_a_callback", func(t *T) {
			q := newQueue()
			e := t.Ptr("Executor_Construct", t.built(2))
			t.OK("Executor_SetOnRunDone", e, queueDone(0))
			in, out := t.pair()
			t.Keep(out)
			a, b := q.user(), q.user()
			own, returned, late := e, make(chan bool), false
			q.on[a] = func() {
				select {
				case <-returned: // no call may use the executor while it is destroyed
				case <-time.After(patience):
					late = true
				}
				t.Call("Executor_Destroy", &own)
			}
			t.OK("Executor_RunAsync", e, in, 2, out, 1, 0, a)
			t.OK("Executor_RunAsync", e, in, 2, out, 1, 0, b)
			close(returned)
			got := q.wait(2)
			first := slices.IndexFunc(got, func(x end) bool { return x.user == a })
			t.Check(!late, "the calls return after the callback only")
			t.Check(own == 0 && first >= 0 && got[first].code == success, "variable %#x, callbacks %+v", own, got)
			other := got[1-first]
			t.Check(other.user == b && (other.code == failed) == (other.outputs == 0), "callback %+v", other)
			t.Bad("Executor_GetInputCount", e, new(uint64))
			t.runs(twoFloats(t))
		}).In(ohnn.Manual).
		OK("other_objects_first", func(t *T) {
			q := newQueue()
			m := t.turned(-1, -1)
			c := t.compilation(m)
			t.OK("Compilation_Build", c)
			e := t.executorOf(c)
			t.OK("Executor_SetOnRunDone", e, queueDone(0))
			r := t.queuedRun(q, 5, 7, 1)
			t.start(e, r, 0)
			t.Call("Compilation_Destroy", &c)
			t.Call("Model_Destroy", &m)
			t.ended(q.wait(1)[0], r)
		}).In(ohnn.Manual).
		OK("from_another_thread", func(t *T) {
			q, e := newQueue(), t.asynchronous()
			runs := t.started(q, e, 6, nil)
			t.inThread(func(own *T) { own.Call("Executor_Destroy", &e) })
			got := q.all()
			t.Check(len(got) == 6, "%d callbacks of 6 runs when the executor is gone", len(got))
			for i, x := range got {
				if x.code == success {
					t.ended(x, runs[i])
				} else {
					t.Check(x.user == runs[i].user && x.code == failed && x.outputs == 0, "callback %+v", x)
				}
			}
		}).In(ohnn.Manual),
	forbidden(rule("s8_queue_tensors", "tensors of a run that has not ended are in use: they cannot end, or the run is "+
		"none the worse for it; after the callback they can")).
		OK("long_run", func(t *T) {
			q := newQueue()
			e, in, out, _ := t.busy(q, 1)
			own := []uintptr{t.Ptr("Tensor_Create", 0, t.Ptr("Tensor_GetTensorDesc", in[0])), in[1]}
			u := q.user()
			t.OK("Executor_RunAsync", e, own, 2, out, 1, 0, u)
			x := own[0]
			code := t.Code("Tensor_Destroy", &x)
			t.Check(code == forbid && x == own[0] || code == success && x == 0, "Tensor_Destroy of a tensor in use: %d, "+
				"variable %#x", code, x)
			got := q.wait(2)[1]
			t.Check(got.user == u && got.code == success, "the run was told %+v", got)
			if x != 0 {
				t.OK("Tensor_Destroy", &x)
			}
		}).In(ohnn.Manual).
		OK("in_the_callback", func(t *T) {
			q, e := newQueue(), t.asynchronous()
			r := t.queuedRun(q, 2, 3, 1)
			x := t.Ptr("Tensor_Create", 0, t.desc(float32T, 3))
			copy(cmem.Span[float32](t.Ptr("Tensor_GetDataBuffer", x), 3), pattern(3, 2))
			r.in[1] = x
			code := -1
			q.on[r.user] = func() { code = t.Code("Tensor_Destroy", &x) }
			t.start(e, r, 0)
			got := q.wait(1)[0]
			t.Check(code == success && x == 0, "Tensor_Destroy in the callback: %d, variable %#x", code, x)
			t.ended(got, r)
		}).In(ohnn.Manual).
		OK("memory_of_the_program", func(t *T) {
			q, e := newQueue(), t.asynchronous()
			fd := t.sharedMemory(int64(page))
			r := t.queuedRun(q, 2, 3, 1)
			r.out[0] = t.newTensor("CreateWithFd", 0, t.desc(float32T, -1, -1), fd, page, 0)
			t.start(e, r, 0)
			t.ended(q.wait(1)[0], r)
			file := make([]byte, 24)
			_, err := unix.Pread(fd, file, 0)
			want := turn(pattern(6, 1), pattern(3, 2), 2, 3)
			t.Check(err == nil && slices.Equal(cmem.As[float32](file), want), "the file has %v, want %v",
				cmem.As[float32](file), want)
		}).In(ohnn.Manual).
		No("of_a_run_that_was_ended", func(t *T) {
			q := newQueue()
			e, in, _, _ := t.busy(q, 0)
			out := []uintptr{t.Ptr("Tensor_Create", 0, t.Ptr("Tensor_GetTensorDesc", in[0]))}
			t.Keep(out)
			u := q.user()
			code := -1
			q.on[u] = func() { code = t.Code("Tensor_Destroy", &out[0]) }
			t.OK("Executor_RunAsync", e, in, 2, out, 1, 1, u)
			t.refusedEnd(q.wait(1)[0], u, timedOut)
			t.Check(code == success && out[0] == 0, "Tensor_Destroy in the callback: %d, variable %#x", code, out[0])
		}).In(ohnn.Manual),
}
