package rules

import (
	"slices"
	"sync"
	"time"

	"github.com/anynpu/anynpu/conformance/ohnn"
	"github.com/anynpu/anynpu/conformance/suite"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// queue collects what run-done callbacks were told, in their order.
type queue struct {
	mu    sync.Mutex
	ends  []end
	added *sync.Cond
	on    map[uintptr]func() // what the callback does, by user data
}

// queues finds the queue of a callback by its user data. Callbacks of a process cannot be given back, so there are two
// functions for all cases.
var (
	queues     sync.Map
	queueDones [2]uintptr
	madeDones  sync.Once
)

// queueDone is the address of a run-done function; what it is told has its number.
func queueDone(i int) uintptr {
	madeDones.Do(func() {
		for k := range queueDones {
			queueDones[k] = suite.NewCallback(func(user, code, outputs, n uintptr) uintptr {
				if q, ok := queues.Load(user); ok {
					q.(*queue).told(end{user, outputs, int(uint32(code)), int(int32(n)), k})
				}
				return 0
			})
		}
	})
	return queueDones[i]
}

func (q *queue) told(x end) {
	q.mu.Lock()
	f := q.on[x.user]
	q.mu.Unlock()
	if f != nil {
		f()
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ends = append(q.ends, x)
	q.added.Broadcast()
}

func newQueue() *queue {
	q := &queue{on: map[uintptr]func(){}}
	q.added = sync.NewCond(&q.mu)
	return q
}

// user is new user data whose callbacks come to q.
func (q *queue) user() uintptr {
	u := 1<<40 + nextUser.Add(1)
	queues.Store(u, q)
	return u
}

// wait waits for the callbacks of n runs.
func (q *queue) wait(n int) []end {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.ends) < n {
		q.added.Wait()
	}
	return slices.Clone(q.ends)
}

func (q *queue) all() []end { return q.wait(0) }

// patience bounds what a callback waits for, so that a case fails and does not hang.
const patience = 20 * time.Second

// queued is a run of turned in a queue, with tensors of its own.
type queued struct {
	user             uintptr
	in, out          []uintptr
	rows, cols, seed int
}

// queuedRun makes the tensors of a run.
func (t *T) queuedRun(q *queue, rows, cols, seed int) *queued {
	r := &queued{user: q.user(), rows: rows, cols: cols, seed: seed}
	r.in = []uintptr{t.tensor(pattern(rows*cols, seed), int32(rows), int32(cols)), t.tensor(pattern(cols, seed+1),
		int32(cols))}
	r.out = []uintptr{t.room()}
	t.Keep(r.out)
	return r
}

// start starts a run, which must be accepted.
func (t *T) start(e uintptr, r *queued, timeout int32) {
	in := slices.Clone(r.in)
	t.OK("Executor_RunAsync", e, in, 2, r.out, 1, timeout, r.user)
	clear(in) // the inputs' array is the program's again
}

// started starts n runs one behind the other; between, if any, is called after each.
func (t *T) started(q *queue, e uintptr, n int, between func(i int, r *queued)) []*queued {
	runs := make([]*queued, n)
	for i := range runs {
		runs[i] = t.queuedRun(q, 2, 3, i)
		t.start(e, runs[i], 0)
		if between != nil {
			between(i, runs[i])
		}
	}
	return runs
}

// ended demands that a run was told as it must be, and has computed its own numbers.
func (t *T) ended(got end, r *queued) {
	t.Check(got.user == r.user && got.code == success && got.outputs == cmem.First(r.out) && got.n == 1,
		"the callback was told %+v, want user data %d, SUCCESS and the one output of that run", got, r.user)
	want := turn(pattern(r.rows*r.cols, r.seed), pattern(r.cols, r.seed+1), r.rows, r.cols)
	t.Check(slices.Equal(t.floats(r.out[0], len(want)), want), "%d x %d: got %v, want %v", r.rows, r.cols,
		t.floats(r.out[0], len(want)), want)
	t.wantShape(t.Ptr("Tensor_GetTensorDesc", r.out[0]), int32(r.cols), int32(r.rows))
}

// refusedEnd demands that a run was told to have failed, with a code and without outputs.
func (t *T) refusedEnd(got end, user uintptr, codes ...int) {
	t.Check(got.user == user && slices.Contains(codes, got.code) && got.outputs == 0 && got.n == 0,
		"the callback was told %+v, want user data %d, a code of %v and no outputs", got, user, codes)
	t.Judged(false)
}

// asynchronous gives an executor of turned that calls back.
func (t *T) asynchronous() uintptr {
	e := t.turning()
	t.OK("Executor_SetOnRunDone", e, queueDone(0))
	return e
}

// busy is an executor of a product of large matrices that calls back, and n runs of it that have been started. One
// takes far more than a millisecond.
func (t *T) busy(q *queue, n int) (e uintptr, in, out []uintptr, users []uintptr) {
	e, in, out = t.longRun(1024)
	t.Keep(out)
	t.OK("Executor_SetOnRunDone", e, queueDone(0))
	for range n {
		u := q.user()
		users = append(users, u)
		t.OK("Executor_RunAsync", e, in, 2, out, 1, 0, u)
	}
	return e, in, out, users
}

// forbidden is the case of the reference implementation, which has no asynchronous runs.
func forbidden(r *Rule) *Rule {
	return r.OK("waiting", func(t *T) {
		e := t.turning()
		t.turns(e, t.room(), 3, 2, 1)
	}).No("forbidden", func(t *T) {
		e := t.turning()
		in := []uintptr{t.tensor(pattern(6, 1), 2, 3), t.tensor(pattern(3, 2), 3)}
		t.Is(forbid, "Executor_RunAsync", e, in, 2, []uintptr{t.room()}, 1, 0, 1)
	}).In(ohnn.Reference)
}

// waiting are the rules of asynchronous runs that follow one another.
var waiting = []*Rule{
	forbidden(rule("s8_queue_order", "runs that are started while others run end in their order, each exactly once, with "+
		"its own user data, outputs, shapes and result")).
		OK("own_data", func(t *T) {
			q, e := newQueue(), t.asynchronous()
			var runs []*queued
			for i := range 12 {
				s := shapes[i%len(shapes)]
				runs = append(runs, t.queuedRun(q, s[0], s[1], i))
			}
			for _, r := range runs {
				t.start(e, r, 0)
			}
			for i, got := range q.wait(len(runs)) {
				t.ended(got, runs[i])
			}
			t.Call("Executor_Destroy", &e)
			t.Check(len(q.all()) == len(runs), "%d callbacks of %d runs", len(q.all()), len(runs))
		}).In(ohnn.Manual).
		OK("returns_at_once", func(t *T) {
			q, e := newQueue(), t.asynchronous()
			returned, late := make(chan bool), false
			a, b := t.queuedRun(q, 2, 3, 1), t.queuedRun(q, 3, 2, 2)
			q.on[a.user] = func() {
				select {
				case <-returned:
				case <-time.After(patience):
					late = true
				}
			}
			t.start(e, a, 0)
			t.start(e, b, 0)
			close(returned)
			got := q.wait(2)
			t.Check(!late, "the calls return after the callback only")
			t.ended(got[0], a)
			t.ended(got[1], b)
		}).In(ohnn.Manual).
		OK("same_user_data", func(t *T) {
			q, e := newQueue(), t.asynchronous()
			r := t.queuedRun(q, 2, 3, 4)
			for range 5 {
				t.start(e, r, 0)
			}
			for _, got := range q.wait(5) {
				t.ended(got, r)
			}
			t.Call("Executor_Destroy", &e)
			t.Check(len(q.all()) == 5, "%d callbacks of 5 runs", len(q.all()))
		}).In(ohnn.Manual).
		OK("started_in_a_callback", func(t *T) {
			q, e := newQueue(), t.asynchronous()
			a, b, c := t.queuedRun(q, 2, 3, 1), t.queuedRun(q, 3, 2, 2), t.queuedRun(q, 4, 1, 3)
			code, others, late := -1, make(chan bool), false
			q.on[a.user] = func() {
				select {
				case <-others: // so that b comes before c
				case <-time.After(patience):
					late = true
				}
				code = t.Code("Executor_RunAsync", e, c.in, 2, c.out, 1, 0, c.user)
			}
			t.start(e, a, 0)
			t.start(e, b, 0)
			close(others)
			got := q.wait(3)
			t.Check(!late, "the calls return after the callback only")
			t.Check(code == success, "RunAsync in a callback: %d", code)
			t.ended(got[0], a)
			t.ended(got[1], b)
			t.ended(got[2], c)
		}).In(ohnn.Manual).
		OK("several_executors", func(t *T) {
			c := t.compilation(t.turned(-1, -1))
			t.OK("Compilation_Build", c)
			type own struct {
				q    *queue
				e    uintptr
				runs []*queued
			}
			var of []own
			for k := range 3 {
				x := own{newQueue(), t.executorOf(c), nil}
				t.OK("Executor_SetOnRunDone", x.e, queueDone(k%2))
				for i := range 6 {
					s := shapes[(i+k)%len(shapes)]
					x.runs = append(x.runs, t.queuedRun(x.q, s[0], s[1], 10*k+i))
				}
				of = append(of, x)
			}
			for i := range 6 {
				for _, x := range of {
					t.start(x.e, x.runs[i], 0)
				}
			}
			for k, x := range of {
				for i, got := range x.q.wait(6) {
					t.ended(got, x.runs[i])
					t.Check(got.by == k%2, "the callback of another executor was called")
				}
			}
		}).In(ohnn.Manual).
		OK("with_waiting_runs", func(t *T) {
			q, e := newQueue(), t.asynchronous()
			runs := t.started(q, e, 6, func(i int, _ *queued) {
				s, out := shapes[(i+1)%len(shapes)], t.room()
				x, b := pattern(s[0]*s[1], i), pattern(s[1], i+1)
				in := []uintptr{t.tensor(x, int32(s[0]), int32(s[1])), t.tensor(b, int32(s[1]))}
				t.OK("Executor_RunSync", e, in, 2, []uintptr{out}, 1)
				t.Check(slices.Equal(t.floats(out, len(x)), turn(x, b, s[0], s[1])), "the run that waits got %v",
					t.floats(out, len(x)))
			})
			for i, got := range q.wait(6) {
				t.ended(got, runs[i])
			}
		}).In(ohnn.Manual).
		No("refused_between", func(t *T) {
			if t.Mode == ohnn.Reference {
				in, out := t.pair()
				t.Is(forbid, "Executor_RunAsync", twoFloats(t), in, 2, out, 1, 0, 1)
				return
			}
			q, e := newQueue(), t.asynchronous()
			bad := q.user()
			runs := t.started(q, e, 4, func(_ int, r *queued) {
				t.Bad("Executor_RunAsync", e, r.in, 1, r.out, 1, 0, bad)
				t.Bad("Executor_RunAsync", e, r.in, 2, []uintptr{r.out[0], r.out[0]}, 2, 0, bad)
				t.Bad("Executor_RunAsync", e, r.in, 2, r.out, 1, 0, nil)
				t.Bad("Executor_RunAsync", e, nil, 2, r.out, 1, 0, bad)
			})
			for i, got := range q.wait(4) {
				t.ended(got, runs[i])
			}
			t.Call("Executor_Destroy", &e)
			t.Check(len(q.all()) == 4, "%d callbacks of 4 accepted runs", len(q.all()))
		}),
	forbidden(rule("s8_queue_function", "the function that was set last is called, and none before one is set")).
		OK("set_again", func(t *T) {
			q, e := newQueue(), t.asynchronous()
			for i := range 4 {
				t.OK("Executor_SetOnRunDone", e, queueDone(i%2))
				r := t.queuedRun(q, 2, 3, i)
				t.start(e, r, 0)
				got := q.wait(i + 1)[i]
				t.ended(got, r)
				t.Check(got.by == i%2, "run %d: function %d was called", i, got.by)
			}
		}).In(ohnn.Manual).
		OK("service_that_lives", func(t *T) {
			q, e := newQueue(), t.asynchronous()
			t.OK("Executor_SetOnServiceDied", e, queueDone(1))
			r := t.queuedRun(q, 2, 3, 1)
			t.start(e, r, 0)
			t.ended(q.wait(1)[0], r)
			t.Call("Executor_Destroy", &e)
			t.Check(len(q.all()) == 1, "%d callbacks of one run", len(q.all()))
		}).In(ohnn.Manual).
		No("refused_function", func(t *T) {
			e := t.turning()
			t.Bad("Executor_SetOnRunDone", e, nil)
			if t.Mode == ohnn.Manual {
				q := newQueue()
				t.OK("Executor_SetOnRunDone", e, queueDone(1))
				t.Bad("Executor_SetOnRunDone", e, nil)
				r := t.queuedRun(q, 2, 3, 1)
				t.start(e, r, 0)
				got := q.wait(1)[0]
				t.ended(got, r)
				t.Check(got.by == 1, "another function was called")
			}
			t.Judged(false)
		}),
	forbidden(rule("s8_queue_failure", "a run that the device refuses is told with its code and without outputs, and "+
		"those behind it run")).
		No("between_others", func(t *T) {
			q, e := newQueue(), t.asynchronous()
			a, b, c := t.queuedRun(q, 2, 3, 1), t.queuedRun(q, 2, 3, 2), t.queuedRun(q, 3, 2, 3)
			b.in[1] = t.tensor(pattern(2, 9), 2) // it does not fit the columns
			t.start(e, a, 0)
			t.start(e, b, 0)
			t.start(e, c, 0)
			got := q.wait(3)
			t.ended(got[0], a)
			t.ended(got[2], c)
			t.refusedEnd(got[1], b.user, unavail)
			t.wantShape(t.Ptr("Tensor_GetTensorDesc", b.out[0]), -1, -1)
		}).In(ohnn.Manual).
		No("too_small", func(t *T) {
			q, e := newQueue(), t.asynchronous()
			r := t.queuedRun(q, 2, 3, 1)
			r.out[0] = t.newTensor("CreateWithSize", 0, t.desc(float32T, -1, -1), 16)
			t.start(e, r, 0)
			t.refusedEnd(q.wait(1)[0], r.user, unavail)
		}).In(ohnn.Manual).
		No("judged_by_the_call", func(t *T) {
			e := t.turning()
			in, out := []uintptr{t.tensor(nil, 2, 3), t.tensor(nil, 3)}, []uintptr{t.room()}
			if t.Mode == ohnn.Reference {
				t.Is(forbid, "Executor_RunAsync", e, in, 2, out, 1, 0, 1)
				return
			}
			q := newQueue()
			t.Is(forbid, "Executor_RunAsync", e, in, 2, out, 1, 0, q.user())
			t.OK("Executor_SetOnRunDone", e, queueDone(0))
			u := q.user()
			for _, want := range []struct {
				code    int
				in, out []uintptr
			}{
				{nullPtr, []uintptr{in[0], 0}, out}, {invalid, in, []uintptr{0}},
				{invalid, []uintptr{in[0], t.tensor(nil, largestDim+1)}, out},
				{invalid, []uintptr{in[0], in[0]}, out},
				{failed, in, []uintptr{t.shrunk()}},
			} {
				t.Is(want.code, "Executor_RunAsync", e, want.in, 2, want.out, 1, 0, u)
			}
			t.Call("Executor_Destroy", &e)
			t.Check(len(q.all()) == 0, "%d callbacks of refused runs", len(q.all()))
		}),
}

// shrunk is a tensor whose descriptor says more than it holds.
func (t *T) shrunk() uintptr {
	x := t.tensor(nil, 2)
	t.OK("TensorDesc_SetShape", t.Ptr("Tensor_GetTensorDesc", x), []int32{10000}, 1)
	return x
}

// inThread runs f in a thread of its own and waits for it.
func (t *T) inThread(f func(own *T)) {
	t.Parallel(1, func(own *suite.T, _ int) { f(newT(own)) })
}
