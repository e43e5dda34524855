package rules

import (
	"github.com/anynpu/anynpu/conformance/hbucp"
	"github.com/anynpu/anynpu/conformance/suite"
)

// busy submits a task that takes the one place for some hundred milliseconds.
func (t *T) busy() uintptr {
	r := t.Prepare(hbucp.Relu(1, 1<<20))
	task := address()
	for range 255 {
		t.Infer(0, task, r)
	}
	t.Later(func() { t.Call("UCPReleaseTask", *task) })
	t.OK("UCPSubmitTask", *task, &hbucp.Sched{Priority: 200})
	return *task
}

// whileBusy calls f with the one place taken. f says what was wrong, which counts only if the place is taken still.
func (t *T) whileBusy(f func() string) {
	for range 10 {
		task := t.busy()
		saw := f()
		if t.Code("UCPWaitTaskDone", task, 1) == hbucp.Timeout {
			t.Check(saw == "", "%s", saw)
			t.OK("UCPReleaseTask", task)
			return
		}
		t.OK("UCPReleaseTask", task)
	}
	t.Skip("a task of 255 members is done too early")
}

func (t *T) small() *hbucp.Run { return t.Prepare(hbucp.Relu(1, 4)) }

var tasks = []*Rule{
	rule("5.2.a_new", "hbDNNInferV2 makes a task if its variable is NULL, and does not run it").
		OK("made", func(t *T) {
			r := t.small()
			hbucp.Fill[float32](r, 1, -1, 0, 5)
			task := t.Make(r)
			hbucp.Gives[float32](t.T, r, 0, 0, 0, 0)
			t.OK("UCPSubmitTask", task, &r.Sched)
			t.OK("UCPWaitTaskDone", task, 0)
			hbucp.Gives[float32](t.T, r, 1, 0, 0, 5)
		}).
		No("garbage", func(t *T) {
			task := &[]uintptr{12345}[0]
			t.Infer(hbucp.InvalidTask, task, t.small())
			t.Check(*task == 12345, "the variable is %#x", *task)
			t.Says("want NULL")
		}),
	rule("5.2.b_synchronous", "without a place for a handle the model runs at once").
		OK("runs", func(t *T) {
			r := t.small()
			hbucp.Fill[float32](r, 1, -1, 0, 5)
			t.Infer(0, nil, r)
			hbucp.Gives[float32](t.T, r, 1, 0, 0, 5)
		}).
		OK("beside_32", func(t *T) {
			r := t.small()
			for range 32 {
				t.Make(r)
			}
			t.Infer(0, nil, r)
		}).
		No("refused", func(t *T) {
			r := t.small()
			r.In[0].Mem.Virt = 0
			t.Infer(hbucp.InvalidArgument, nil, r)
		}),
	rule("5.2.c_failure", "a new task that is refused leaves NULL").
		OK("then", func(t *T) {
			r := t.small()
			good := r.Out[0]
			r.Out[0].Mem.Virt = 0
			task := address()
			t.Infer(hbucp.InvalidArgument, task, r)
			t.Check(*task == 0, "the task is %#x", *task)
			r.Out[0] = good
			t.Compute(r)
		}).
		No("input", func(t *T) {
			r, task := t.small(), address()
			r.In[0].Mem.Size = 15
			t.Infer(hbucp.InvalidArgument, task, r)
			t.Check(*task == 0, "the task is %#x", *task)
			t.Says("input[0]", "memSize")
		}),
	rule("5.2.d_tensors_are_copied", "tensors may end when hbDNNInferV2 has returned, and what scales point to is not read").
		OK("cleared", func(t *T) {
			r := t.small()
			hbucp.Fill[float32](r, 1, -1, 0, 5)
			in, out := r.In[0], r.Out[0]
			r.In[0].Properties.Scale, r.In[0].Properties.ScaleLen, r.In[0].Properties.Quant = 12345, 7, 9
			task := t.Make(r)
			r.In[0], r.Out[0] = hbucp.Tensor{}, hbucp.Tensor{}
			t.OK("UCPSubmitTask", task, &r.Sched)
			t.OK("UCPWaitTaskDone", task, 0)
			r.In[0], r.Out[0] = in, out
			hbucp.Gives[float32](t.T, r, 1, 0, 0, 5)
		}).
		No("shape", func(t *T) {
			r := t.small()
			r.In[0].Properties.Valid.Dims[1] = 5
			t.Infer(hbucp.InvalidArgument, address(), r)
		}),
	rule("5.2.e_priority", "priorities are 0 to 255, customId is any number").
		OK("all", func(t *T) {
			for _, s := range []hbucp.Sched{{}, {Priority: 1, Custom: -1 << 63}, {Priority: 254},
				{Priority: 255, Custom: 1<<63 - 1}} {
				r := t.small()
				r.Sched = s
				t.Compute(r)
			}
		}).
		No("beyond", func(t *T) {
			for _, p := range []int32{-1, 256, 1 << 30} {
				t.Bad("UCPSubmitTask", t.Make(t.small()), &hbucp.Sched{Priority: p})
			}
			t.Says("schedParam->priority")
		}),
	rule("5.2.f_backend", "a mask of hardware has to have the BPU, of whichever cores").
		OK("masks", func(t *T) {
			for _, b := range []uint64{hbucp.AnyCore, hbucp.BPUAny, 1, 2, 4, 8, 15, hbucp.AllBackend} {
				r := t.small()
				r.Sched.Backend = b
				t.Compute(r)
			}
		}).
		No("other_hardware", func(t *T) {
			for _, b := range []uint64{hbucp.DSP0, 1 << 16, 1 << 45, 1 << 5} {
				t.Bad("UCPSubmitTask", t.Make(t.small()), &hbucp.Sched{Backend: b})
			}
			t.Says("schedParam->backend")
		}),
	rule("5.2.g_submit_once", "a task is submitted once").
		OK("after_a_refusal", func(t *T) {
			task := t.Make(t.small())
			t.Bad("UCPSubmitTask", task, &hbucp.Sched{Priority: -1})
			t.OK("UCPSubmitTask", task, &hbucp.Sched{})
			t.OK("UCPWaitTaskDone", task, 0)
		}).
		No("twice", func(t *T) {
			r := t.small()
			t.Is(hbucp.APIUseError, "UCPSubmitTask", t.Compute(r), &r.Sched)
		}),
	rule("5.2.h_wait", "waiting with a timeout of 0 or less has no end, and may be done again").
		OK("ever", func(t *T) {
			for _, timeout := range []int32{0, -1, -1 << 31, 10000} {
				task := t.Start(t.Prepare(hbucp.Relu(1, 1<<16)))
				t.OK("UCPWaitTaskDone", task, timeout)
				t.OK("UCPWaitTaskDone", task, 0)
			}
		}).
		No("before_submission", func(t *T) { t.Is(hbucp.APIUseError, "UCPWaitTaskDone", t.Make(t.small()), 0) }),
	rule("5.2.i_timeout", "a timeout leaves the task as it is").
		OK("then", func(t *T) {
			task := t.busy()
			t.Code("UCPWaitTaskDone", task, 1)
			t.OK("UCPWaitTaskDone", task, 0)
		}).
		No("late", func(t *T) {
			for range 10 {
				if t.Code("UCPWaitTaskDone", t.busy(), 1) == hbucp.Timeout {
					t.Judged(false)
					return
				}
			}
			t.Failf("a task of 255 members is never late")
		}),
	rule("5.2.j_release", "a task is released once, whatever it does").
		OK("any", func(t *T) {
			r := t.small()
			t.OK("UCPReleaseTask", t.Make(r))
			t.OK("UCPReleaseTask", t.Start(r))
			t.OK("UCPReleaseTask", t.Compute(r))
			t.OK("UCPReleaseTask", t.busy())
			t.Compute(r)
		}).
		No("twice", func(t *T) {
			task := t.Compute(t.small())
			t.OK("UCPReleaseTask", task)
			t.Is(hbucp.InvalidTask, "UCPReleaseTask", task)
			t.Is(hbucp.InvalidTask, "UCPWaitTaskDone", task, 0)
		}),
	rule("5.2.k_results_stay", "results may be read when the task is released").
		OK("after", func(t *T) {
			r := t.small()
			hbucp.Fill[float32](r, -1, 3, 0, 5)
			t.OK("UCPReleaseTask", t.Compute(r))
			t.OK("UCPMemFlush", &r.Out[0].Mem, 1)
			hbucp.Gives[float32](t.T, r, 0, 3, 0, 5)
		}).
		No("handle", func(t *T) {
			task := t.Compute(t.small())
			t.OK("UCPReleaseTask", task)
			t.Is(hbucp.InvalidTask, "DNNGetTaskOutputTensorProperties", &hbucp.Properties{}, task, 0, 0)
		}),
	rule("5.2.l_limit", "32 tasks can be unreleased").
		OK("32", func(t *T) {
			r := t.small()
			for range 100 {
				t.OK("UCPReleaseTask", t.Compute(r))
			}
			for range 32 {
				t.Make(r)
			}
		}).
		No("33", func(t *T) {
			r := t.small()
			var last uintptr
			for range 32 {
				last = t.Make(r)
			}
			task := address()
			t.Infer(hbucp.TooManyTasks, task, r)
			t.Check(*task == 0, "the task is %#x", *task)
			t.Says("hbUCPReleaseTask")
			t.OK("UCPReleaseTask", last)
			t.Make(r)
		}),
	rule("5.2.m_limit_of_the_environment", "HB_UCP_MAX_TASK_NUM says how many").
		OK("3", func(t *T) {
			r := t.small()
			for range 3 {
				t.Make(r)
			}
		}).With("HB_UCP_MAX_TASK_NUM=3").
		No("4", func(t *T) {
			r := t.small()
			for range 3 {
				t.Make(r)
			}
			t.Infer(hbucp.TooManyTasks, address(), r)
		}).With("HB_UCP_MAX_TASK_NUM=3"),
	rule("5.2.n_order", "tasks go by priority, then by customId, then as they came, and those of 255 at once").
		OK("urgent", func(t *T) {
			t.whileBusy(func() string {
				r := t.small()
				r.Sched.Priority = 255
				t.Compute(r)
				return ""
			})
			t.Judged(true)
		}).
		OK("order", func(t *T) {
			model := t.Model(hbucp.Relu(1, 4))
			// Step k hands on what step k-1 made, so that the value arrives if they are taken in this order.
			steps := []hbucp.Sched{{Priority: 254}, {Priority: 3, Custom: 1}, {Priority: 3, Custom: 2}, {Priority: 2},
				{Priority: 2}}
			var waiting []uintptr
			var last hbucp.SysMem
			t.whileBusy(func() string {
				rooms := make([]hbucp.SysMem, len(steps)+1)
				for i := range rooms {
					rooms[i] = t.Mem(128)
				}
				hbucp.Of[float32](&rooms[0], 1)[0] = 7
				last, waiting = rooms[len(steps)], nil
				for _, k := range []int{3, 2, 1, 0, 4} {
					r := t.On(model)
					r.In[0].Mem, r.Out[0].Mem, r.Sched = rooms[k], rooms[k+1], steps[k]
					waiting = append(waiting, t.Start(r))
				}
				return ""
			})
			for _, task := range waiting {
				t.OK("UCPWaitTaskDone", task, 0)
			}
			got := hbucp.Of[float32](&last, 1)[0]
			t.Check(got == 7, "want %v, got %v: tasks went in another order", float32(7), got)
			t.Judged(true)
		}).
		No("lower", func(t *T) {
			t.whileBusy(func() string {
				r := t.small()
				r.Sched.Priority = 199
				if t.Code("UCPWaitTaskDone", t.Start(r), 1) == hbucp.Success {
					return "a task went before one of a higher priority"
				}
				return ""
			})
			t.Judged(false)
		}),
	rule("5.2.o_threads", "handles go from thread to thread").
		OK("threads", func(t *T) {
			task := t.busy()
			t.Parallel(4, func(own *suite.T, _ int) { own.OK("UCPWaitTaskDone", task, 0) })
		}).
		No("released_meanwhile", func(t *T) {
			task := t.busy()
			t.Parallel(2, func(own *suite.T, i int) {
				if i == 0 {
					code := own.Code("UCPWaitTaskDone", task, 0)
					own.Check(code == hbucp.InvalidTask || code == hbucp.Success, "code %d", code)
					return
				}
				own.OK("UCPReleaseTask", task)
			})
			t.Is(hbucp.InvalidTask, "UCPWaitTaskDone", task, 0)
		}),
}

var groups = []*Rule{
	rule("5.2.p_members", "a task that is not submitted takes members, of any models, which run one after another").
		OK("chain", func(t *T) {
			a, b := t.small(), t.small()
			b.In[0].Mem = a.Out[0].Mem
			hbucp.Fill[float32](a, -1, 2, -3, 4)
			task := t.Make(a)
			before := task
			t.Infer(0, &task, b)
			t.Check(task == before, "the handle changes")
			t.OK("UCPSubmitTask", task, &hbucp.Sched{})
			t.OK("UCPWaitTaskDone", task, 0)
			hbucp.Gives[float32](t.T, b, 0, 2, 0, 4)
		}).
		No("submitted", func(t *T) {
			r := t.small()
			task := t.Compute(r)
			t.Infer(hbucp.APIUseError, &task, r)
		}).
		No("released", func(t *T) {
			r := t.small()
			task := t.Make(r)
			t.OK("UCPReleaseTask", task)
			t.Infer(hbucp.InvalidTask, &task, r)
		}),
	rule("5.2.q_refused_member", "a member that is refused leaves the task as it was").
		OK("runs", func(t *T) {
			r := t.small()
			hbucp.Fill[float32](r, 1, 2, 3, 4)
			task := t.Make(r)
			bad := *r
			bad.In = []hbucp.Tensor{r.In[0]}
			bad.In[0].Properties.Kind = hbucp.S8
			t.Infer(hbucp.InvalidArgument, &task, &bad)
			t.OK("UCPSubmitTask", task, &hbucp.Sched{})
			t.OK("UCPWaitTaskDone", task, 0)
			hbucp.Gives[float32](t.T, r, 1, 2, 3, 4)
		}).
		No("is_none", func(t *T) {
			r := t.small()
			task := t.Make(r)
			bad := *r
			bad.Out = []hbucp.Tensor{{}}
			t.Infer(hbucp.InvalidArgument, &task, &bad)
			t.OK("UCPSubmitTask", task, &hbucp.Sched{})
			t.OK("UCPWaitTaskDone", task, 0)
			t.Bad("DNNGetTaskOutputTensorProperties", &hbucp.Properties{}, task, 1, 0)
		}).
		No("member", func(t *T) {
			r := t.small()
			task := t.Make(r)
			r.Out[0].Properties.Stride[1] = -1
			t.Infer(hbucp.InvalidArgument, &task, r)
			t.Says("output[0]", "stride[1]")
		}),
	rule("5.2.r_many_members", "a task has at most 255 members").
		OK("255", func(t *T) {
			r := t.small()
			task := t.Make(r)
			for range 254 {
				t.Infer(0, &task, r)
			}
			t.OK("UCPSubmitTask", task, &hbucp.Sched{})
			t.OK("UCPWaitTaskDone", task, 0)
		}).
		No("256", func(t *T) {
			r := t.small()
			task := t.Make(r)
			for range 254 {
				t.Infer(0, &task, r)
			}
			t.Infer(hbucp.TooManyTasks, &task, r)
			t.Says("255")
		}),
	rule("5.2.s_in_place", "input and output of a model may be one memory").
		OK("same", func(t *T) {
			r := t.small()
			r.Out[0].Mem = r.In[0].Mem
			hbucp.Fill[float32](r, -1, 2, -3, 4)
			t.Compute(r)
			hbucp.Gives[float32](t.T, r, 0, 2, 0, 4)
		}).
		No("null", func(t *T) {
			r := t.small()
			r.Out[0].Mem.Virt = 0
			t.Infer(hbucp.InvalidArgument, address(), r)
		}),
}
