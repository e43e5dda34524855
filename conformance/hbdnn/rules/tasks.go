package rules

import (
	"time"

	"github.com/anynpu/anynpu/conformance/hbdnn"
	"github.com/anynpu/anynpu/conformance/suite"
)

// busy submits a task that takes the one place for some hundred milliseconds.
func (t *T) busy() uintptr {
	r := t.Prepare(hbdnn.Relu(1, 1<<20))
	task := address()
	r.Control = hbdnn.Control{Priority: 200, More: 1}
	for range 254 {
		t.Infer(0, task, r)
	}
	r.Control.More = 0
	t.Infer(0, task, r)
	return t.Task(*task)
}

// done tells whether a task is done.
func (t *T) done(task uintptr) bool { return t.Code("DNNWaitTaskDone", task, 1) == hbdnn.Success }

// whileBusy calls f with a task that takes the one place. f tells what it saw; that counts only if the task is not done
// then.
func (t *T) whileBusy(f func() string) {
	for range 10 {
		task := t.busy()
		saw := f()
		if !t.done(task) {
			t.Check(saw == "", "%s", saw)
			t.OK("DNNReleaseTask", task)
			return
		}
	}
	t.Skip("a task of 255 members is done too early")
}

// small is a model with tensors and control values.
func (t *T) small(c hbdnn.Control) *hbdnn.Run {
	r := t.Prepare(hbdnn.Relu(1, 4))
	r.Control = c
	return r
}

var tasks = []*Rule{
	rule("4.a_new_task", "hbDNNInfer makes a task if its variable is NULL").
		OK("null", func(t *T) {
			r := t.Prepare(hbdnn.Relu(1, 4))
			hbdnn.Fill[float32](r, 1, -1, 0, 5)
			t.Compute(r)
			hbdnn.Gives[float32](t.T, r, 1, 0, 0, 5)
		}).
		No("garbage", func(t *T) {
			r := t.Prepare(hbdnn.Relu(1, 4))
			task := &[]uintptr{12345}[0]
			t.Infer(hbdnn.InvalidTaskHandle, task, r)
			t.Check(*task == 12345, "the variable is %#x", *task)
			t.Says("want NULL")
		}),
	rule("4.b_failure", "a new task that is refused leaves NULL").
		OK("then", func(t *T) {
			r, task := t.Prepare(hbdnn.Relu(1, 4)), address()
			good := r.In[0]
			r.In[0].Mem[0].Size = 0
			t.Infer(hbdnn.InvalidArgument, task, r)
			t.Check(*task == 0, "the task is %#x, want NULL", *task)
			r.In[0] = good
			t.Infer(0, task, r)
			t.Task(*task)
		}).
		No("output", func(t *T) {
			r, task := t.Prepare(hbdnn.Relu(1, 4)), address()
			r.Out[0].Mem[0].Virt = 0
			t.Infer(hbdnn.InvalidArgument, task, r)
			t.Check(*task == 0, "the task is %#x, want NULL", *task)
		}),
	rule("4.c_output_array", "output points to the address of the array of output tensors").
		OK("array", func(t *T) { t.Compute(t.Prepare(hbdnn.Relu(1, 4))) }).
		No("null", func(t *T) {
			r := t.Prepare(hbdnn.Relu(1, 4))
			t.Bad("DNNInfer", address(), address(), r.In, r.Model, &r.Control)
			t.Says("output")
		}),
	rule("4.d_tensors_are_copied", "tensors and control values may end when hbDNNInfer has returned").
		OK("cleared", func(t *T) {
			r, task := t.Prepare(hbdnn.Relu(1, 4)), address()
			r.Control.More = 1
			hbdnn.Fill[float32](r, 1, -1, 0, 5)
			t.Infer(0, task, r)
			in, out := r.In[0], r.Out[0]
			r.In[0], r.Out[0], r.Control = hbdnn.Tensor{}, hbdnn.Tensor{}, hbdnn.Control{Priority: -1}
			other := t.Prepare(hbdnn.Relu(1, 4))
			t.Infer(0, task, other)
			t.OK("DNNWaitTaskDone", t.Task(*task), 0)
			r.In[0], r.Out[0] = in, out
			hbdnn.Gives[float32](t.T, r, 1, 0, 0, 5)
		}).
		No("control", func(t *T) {
			r := t.small(hbdnn.Control{Priority: 300})
			t.Infer(hbdnn.InvalidArgument, address(), r)
		}),
	rule("4.e_priority", "priorities are 0 to 255").
		OK("all", func(t *T) {
			for _, p := range []int32{0, 1, 254, 255} {
				t.Compute(t.small(hbdnn.Control{Priority: p}))
			}
		}).
		No("beyond", func(t *T) {
			for _, p := range []int32{-1, 256, 1 << 30} {
				t.Infer(hbdnn.InvalidArgument, address(), t.small(hbdnn.Control{Priority: p}))
			}
			t.Says("inferCtrlParam->priority")
		}),
	rule("4.f_cores", "cores are 0 to 3, also those that the machine lacks").
		OK("all", func(t *T) {
			for c := range int32(4) {
				t.Compute(t.small(hbdnn.Control{Bpu: c, Dsp: c}))
			}
		}).
		No("beyond", func(t *T) {
			for _, c := range []hbdnn.Control{{Bpu: 4}, {Bpu: -1}, {Dsp: 4}, {Dsp: -1}} {
				t.Infer(hbdnn.InvalidArgument, address(), t.small(c))
			}
			t.Says("CoreId")
		}),
	rule("4.g_custom_id", "customId is any number").
		OK("all", func(t *T) {
			for _, id := range []int64{0, -1 << 63, 1<<63 - 1} {
				t.Compute(t.small(hbdnn.Control{Custom: id}))
			}
		}).
		No("more", func(t *T) {
			for _, more := range []int32{-1, 2, 255} {
				t.Infer(hbdnn.InvalidArgument, address(), t.small(hbdnn.Control{More: more}))
			}
			t.Says("inferCtrlParam->more")
		}),
	rule("4.h_wait", "waiting with a timeout of 0 or less has no end").
		OK("ever", func(t *T) {
			for _, timeout := range []int32{0, -1, -1 << 31} {
				t.OK("DNNWaitTaskDone", t.Start(t.Prepare(hbdnn.Relu(1, 1<<16))), timeout)
			}
		}).
		No("timeout", func(t *T) {
			saw := false
			for range 10 {
				task := t.busy()
				if t.Code("DNNWaitTaskDone", task, 1) == hbdnn.Timeout {
					saw = true
					t.Judged(false)
					t.OK("DNNWaitTaskDone", task, 0)
					break
				}
			}
			t.Check(saw, "a task of 255 members is never late")
		}),
	rule("4.i_wait_again", "a task can be waited for again").
		OK("twice", func(t *T) {
			task := t.Start(t.Prepare(hbdnn.Relu(1, 4)))
			for range 3 {
				t.OK("DNNWaitTaskDone", task, 0)
				t.OK("DNNWaitTaskDone", task, 5)
			}
		}).
		No("released", func(t *T) {
			task := t.Start(t.Prepare(hbdnn.Relu(1, 4)))
			t.OK("DNNWaitTaskDone", task, 0)
			t.OK("DNNReleaseTask", task)
			t.Is(hbdnn.InvalidTaskHandle, "DNNWaitTaskDone", task, 0)
		}),
	rule("4.j_wait_by_threads", "several threads may wait for a task").
		OK("threads", func(t *T) {
			task := t.busy()
			t.Parallel(4, func(own *suite.T, _ int) { own.OK("DNNWaitTaskDone", task, 0) })
			t.OK("DNNWaitTaskDone", task, 0)
		}).
		No("released_meanwhile", func(t *T) {
			task := t.busy()
			t.Parallel(2, func(own *suite.T, i int) {
				if i == 0 {
					code := own.Code("DNNWaitTaskDone", task, 0)
					own.Check(code == hbdnn.InvalidTaskHandle || code == hbdnn.Success, "code %d", code)
					return
				}
				time.Sleep(5 * time.Millisecond)
				own.OK("DNNReleaseTask", task)
			})
			t.Is(hbdnn.InvalidTaskHandle, "DNNWaitTaskDone", task, 0)
		}),
	rule("4.k_release", "a task is released once, before or after it is done").
		OK("before", func(t *T) {
			for range 20 {
				t.OK("DNNReleaseTask", t.Start(t.Prepare(hbdnn.Relu(1, 4))))
			}
		}).
		No("twice", func(t *T) {
			task := t.Start(t.Prepare(hbdnn.Relu(1, 4)))
			t.OK("DNNReleaseTask", task)
			t.Is(hbdnn.InvalidTaskHandle, "DNNReleaseTask", task)
		}),
	rule("4.l_release_running", "a task that runs stops when it is released").
		OK("stops", func(t *T) {
			task := t.busy()
			t.OK("DNNReleaseTask", task)
			t.Compute(t.Prepare(hbdnn.Relu(1, 4)))
		}).
		No("then", func(t *T) {
			task := t.busy()
			t.OK("DNNReleaseTask", task)
			t.Is(hbdnn.InvalidTaskHandle, "DNNGetTaskEstimateTime", number(), task)
		}),
	rule("4.m_reuse", "the variable of a released task takes a new one when it is NULL").
		OK("again", func(t *T) {
			r := t.Prepare(hbdnn.Relu(1, 4))
			for range 5 {
				task := address()
				t.Infer(0, task, r)
				t.OK("DNNWaitTaskDone", *task, 0)
				t.OK("DNNReleaseTask", *task)
			}
		}).
		No("kept", func(t *T) {
			r, task := t.Prepare(hbdnn.Relu(1, 4)), address()
			t.Infer(0, task, r)
			t.OK("DNNReleaseTask", *task)
			t.Infer(hbdnn.InvalidTaskHandle, task, r)
		}),
	rule("4.n_32_tasks", "32 tasks can be unreleased").
		OK("released", func(t *T) {
			r := t.Prepare(hbdnn.Relu(1, 4))
			for range 100 {
				task := address()
				t.Infer(0, task, r)
				t.OK("DNNReleaseTask", *task)
			}
		}).
		No("33", func(t *T) {
			r := t.Prepare(hbdnn.Relu(1, 4))
			var last uintptr
			for range 32 {
				last = t.Start(r)
			}
			task := address()
			t.Infer(hbdnn.TooManyTasks, task, r)
			t.Check(*task == 0, "the task is %#x, want NULL", *task)
			t.OK("DNNReleaseTask", last)
			t.Start(r)
		}),
	rule("4.o_by_priority", "tasks go by priority, and those of 255 beyond the number that runs").
		OK("urgent", func(t *T) {
			t.whileBusy(func() string {
				t.Compute(t.small(hbdnn.Control{Priority: 255}))
				return ""
			})
			t.Judged(true)
		}).
		OK("order", func(t *T) {
			model := t.Model(hbdnn.Relu(1, 4))
			// Step k hands on what step k-1 made, so that the value arrives if they are taken in this order.
			steps := []hbdnn.Control{{Priority: 3, Custom: 1}, {Priority: 3, Custom: 2}, {Priority: 2}, {Priority: 2},
				{Priority: 1}}
			var waiting []uintptr
			var last hbdnn.SysMem
			t.whileBusy(func() string {
				rooms := make([]hbdnn.SysMem, len(steps)+1)
				for i := range rooms {
					rooms[i] = t.Mem(16)
				}
				hbdnn.Of[float32](&rooms[0], 1)[0] = 7
				last, waiting = rooms[len(steps)], nil
				for _, k := range []int{4, 1, 0, 2, 3} {
					r := t.On(model)
					r.In[0].Mem[0], r.Out[0].Mem[0], r.Control = rooms[k], rooms[k+1], steps[k]
					waiting = append(waiting, t.Start(r))
				}
				return ""
			})
			for _, task := range waiting {
				t.OK("DNNWaitTaskDone", task, 0)
			}
			got := hbdnn.Of[float32](&last, 1)[0]
			t.Check(got == 7, "want %v, got %v: tasks went in another order", float32(7), got)
			t.Judged(true)
		}).
		No("lower", func(t *T) {
			t.whileBusy(func() string {
				low := t.Start(t.small(hbdnn.Control{Priority: 199}))
				equal := t.Start(t.small(hbdnn.Control{Priority: 200, Custom: 1}))
				if t.done(low) || t.done(equal) {
					return "a task went before one of a higher priority, or one with a smaller customId"
				}
				return ""
			})
			t.Judged(false)
		}),
	rule("4.p_estimate_of_a_task", "the estimate of a task is that of its members").
		OK("members", func(t *T) {
			r := t.Prepare(hbdnn.Relu(1, 1<<16))
			t.Compute(r)
			one, all, task := number(), number(), address()
			t.OK("DNNGetEstimateLatency", one, r.Model)
			r.Control.More = 1
			for range 3 {
				t.Infer(0, task, r)
			}
			t.Task(*task)
			t.OK("DNNGetTaskEstimateTime", all, *task)
			t.Check(*all == 3**one, "%d for three of %d", *all, *one)
		}).
		No("null", func(t *T) { t.Bad("DNNGetTaskEstimateTime", nil, t.Start(t.Prepare(hbdnn.Relu(1, 4)))) }),
	rule("11.g_running", "a pack stays while one of its tasks waits or runs, or wants members").
		OK("done", func(t *T) {
			pack := t.Pack(hbdnn.Relu(1, 4))
			r := t.On(t.Named(pack, "model"))
			task := t.Start(r)
			t.OK("DNNWaitTaskDone", task, 0)
			t.OK("DNNRelease", pack)
			t.OK("DNNWaitTaskDone", task, 0)
		}).
		No("open", func(t *T) {
			pack, task := t.Pack(hbdnn.Relu(1, 4)), address()
			r := t.On(t.Named(pack, "model"))
			r.Control.More = 1
			t.Infer(0, task, r)
			t.Is(hbdnn.ModelIsRunning, "DNNRelease", pack)
			t.OK("DNNGetInputCount", number(), r.Model)
			t.OK("DNNReleaseTask", *task)
			t.OK("DNNRelease", pack)
		}),
}

var groups = []*Rule{
	rule("4.q_group", "members of a task are computed when the last one is there").
		OK("models", func(t *T) {
			a, b, task := t.Prepare(hbdnn.Relu(1, 2)), t.Prepare(hbdnn.Relu(1, 3)), address()
			hbdnn.Fill[float32](a, -1, 1)
			hbdnn.Fill[float32](b, 2, -2, 3)
			a.Control.More = 1
			t.Infer(0, task, a)
			same := *task
			t.Infer(0, task, b)
			t.Check(*task == same, "the handle changes")
			t.OK("DNNWaitTaskDone", t.Task(*task), 0)
			hbdnn.Gives[float32](t.T, a, 0, 1)
			hbdnn.Gives[float32](t.T, b, 2, 0, 3)
		}).
		No("closed", func(t *T) {
			r, task := t.Prepare(hbdnn.Relu(1, 2)), address()
			t.Infer(0, task, r)
			t.Task(*task)
			t.Infer(hbdnn.APIUseError, task, r)
			t.OK("DNNWaitTaskDone", *task, 0)
		}),
	rule("4.r_order_in_group", "members run one after another").
		OK("chain", func(t *T) {
			a, b, task := t.Prepare(hbdnn.Relu(1, 2)), t.Prepare(hbdnn.Relu(1, 2)), address()
			hbdnn.Fill[float32](a, -1, 7)
			b.In[0].Mem = a.Out[0].Mem
			a.Control.More = 1
			t.Infer(0, task, a)
			t.Infer(0, task, b)
			t.OK("DNNWaitTaskDone", t.Task(*task), 0)
			hbdnn.Gives[float32](t.T, b, 0, 7)
		}).
		No("other_kind", func(t *T) {
			r := t.Prepare(hbdnn.Relu(1, 2))
			task := &[]uintptr{r.Model}[0]
			t.Infer(hbdnn.InvalidTaskHandle, task, r)
		}),
	rule("4.s_255_members", "a task has at most 255 members").
		OK("255", func(t *T) {
			r, task := t.Prepare(hbdnn.Relu(1, 2)), address()
			for i := range 255 {
				r.Control.More = 1
				if i == 254 {
					r.Control.More = 0
				}
				t.Infer(0, task, r)
			}
			t.OK("DNNWaitTaskDone", t.Task(*task), 0)
		}).
		No("256", func(t *T) {
			r, task := t.Prepare(hbdnn.Relu(1, 2)), address()
			r.Control.More = 1
			for range 255 {
				t.Infer(0, task, r)
			}
			t.Task(*task)
			t.Infer(hbdnn.TooManyMembers, task, r)
			t.Says("255")
		}),
	rule("11.h_failed_append", "a member that is refused leaves the task as it was").
		OK("then", func(t *T) {
			r, task := t.Prepare(hbdnn.Relu(1, 2)), address()
			hbdnn.Fill[float32](r, -1, 7)
			r.Control.More = 1
			t.Infer(0, task, r)
			same, good := *task, r.In[0]
			r.In[0].Mem[0].Size = 0
			t.Infer(hbdnn.InvalidArgument, task, r)
			t.Check(*task == same, "the handle changes")
			r.In[0], r.Control.More = good, 0
			t.Infer(0, task, r)
			t.OK("DNNWaitTaskDone", t.Task(*task), 0)
			hbdnn.Gives[float32](t.T, r, 0, 7)
		}).
		No("control", func(t *T) {
			r, task := t.Prepare(hbdnn.Relu(1, 2)), address()
			r.Control.More = 1
			t.Infer(0, task, r)
			t.Task(*task)
			r.Control.Priority = 256
			t.Infer(hbdnn.InvalidArgument, task, r)
		}),
	rule("11.j_wait_open", "a task whose last member is missing cannot be waited for").
		OK("complete", func(t *T) {
			r, task := t.Prepare(hbdnn.Relu(1, 2)), address()
			r.Control.More = 1
			t.Infer(0, task, r)
			r.Control.More = 0
			t.Infer(0, task, r)
			t.OK("DNNWaitTaskDone", t.Task(*task), 0)
		}).
		No("open", func(t *T) {
			r, task := t.Prepare(hbdnn.Relu(1, 2)), address()
			r.Control.More = 1
			t.Infer(0, task, r)
			t.Task(*task)
			for _, timeout := range []int32{0, 1, -1} {
				t.Is(hbdnn.APIUseError, "DNNWaitTaskDone", *task, timeout)
			}
			t.Says("more = 1")
		}),
	rule("11.l_group_counts_once", "a task counts once for the limit, whatever its members").
		OK("members", func(t *T) {
			r := t.Prepare(hbdnn.Relu(1, 2))
			r.Control.More = 1
			for range 16 {
				task := address()
				for range 4 {
					t.Infer(0, task, r)
				}
				t.Task(*task)
			}
		}).
		No("33", func(t *T) {
			r := t.Prepare(hbdnn.Relu(1, 2))
			r.Control.More = 1
			for range 32 {
				task := address()
				t.Infer(0, task, r)
				t.Task(*task)
			}
			t.Infer(hbdnn.TooManyTasks, address(), r)
		}),
}
