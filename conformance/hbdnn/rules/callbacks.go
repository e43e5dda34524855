package rules

import (
	"sync"
	"time"

	"github.com/anynpu/anynpu/conformance/hbdnn"
	"github.com/anynpu/anynpu/conformance/suite"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// A call is one of a callback.
type call struct {
	task, user uintptr
	status     int32
	code       int // of what the callback did
}

// calls are those of the callbacks of the case that runs.
var calls = make(chan call, 64)

// noting only notes its call, releasing releases its task.
var noting = sync.OnceValue(func() uintptr {
	return suite.NewCallback(func(task, status, user uintptr) uintptr {
		calls <- call{task, user, int32(uint32(status)), 0}
		return 0
	})
})

// called waits for a call.
func (t *T) called() call {
	select {
	case c := <-calls:
		return c
	case <-time.After(20 * time.Second):
		t.Failf("the callback is not called")
		return call{}
	}
}

// uncalled demands that no callback was called.
func (t *T) uncalled() {
	select {
	case c := <-calls:
		t.Failf("the callback of %#x is called", c.task)
	case <-time.After(20 * time.Millisecond):
	}
}

// user is what callbacks get.
func user(t *T) uintptr {
	b := make([]byte, 8)
	t.Keep(b)
	return cmem.First(b)
}

var callbacks = []*Rule{
	rule("4.t_callback", "a task's function gets the task, its status and the program's address, once").
		OK("later", func(t *T) {
			data, task := user(t), t.busy()
			t.OK("DNNSetTaskDoneCb", task, noting(), data)
			t.OK("DNNWaitTaskDone", task, 0)
			c := t.called()
			t.Check(c.task == task && c.status == 0 && c.user == data, "task %#x, status %d, user %#x", c.task, c.status, c.user)
			t.uncalled()
			t.OK("DNNWaitTaskDone", task, 0)
		}).
		No("released", func(t *T) {
			task := t.Start(t.Prepare(hbdnn.Relu(1, 4)))
			t.OK("DNNReleaseTask", task)
			t.Is(hbdnn.InvalidTaskHandle, "DNNSetTaskDoneCb", task, noting(), nil)
			t.uncalled()
		}),
	rule("11.m_callback_of_a_done_task", "a function that is set when the task is done is called at once").
		OK("at_once", func(t *T) {
			task, data := doneTask(t), user(t)
			t.OK("DNNSetTaskDoneCb", task, noting(), data)
			t.Check(len(calls) == 1, "%d calls when it was set", len(calls))
			c := t.called()
			t.Check(c.task == task && c.status == 0 && c.user == data, "task %#x, status %d", c.task, c.status)
		}).
		No("null", func(t *T) {
			task := doneTask(t)
			t.OK("DNNSetTaskDoneCb", task, nil, nil)
			t.uncalled()
			t.Judged(false)
		}),
	rule("11.q_callback_cleared", "NULL takes a function back").
		OK("open", func(t *T) {
			r, task := t.Prepare(hbdnn.Relu(1, 2)), address()
			r.Control.More = 1
			t.Infer(0, task, r)
			t.OK("DNNSetTaskDoneCb", *task, noting(), nil)
			r.Control.More = 0
			t.Infer(0, task, r)
			t.OK("DNNWaitTaskDone", t.Task(*task), 0)
			t.called()
		}).
		No("taken_back", func(t *T) {
			r, task := t.Prepare(hbdnn.Relu(1, 2)), address()
			r.Control.More = 1
			t.Infer(0, task, r)
			t.OK("DNNSetTaskDoneCb", *task, noting(), nil)
			t.OK("DNNSetTaskDoneCb", *task, nil, nil)
			r.Control.More = 0
			t.Infer(0, task, r)
			t.OK("DNNWaitTaskDone", t.Task(*task), 0)
			t.uncalled()
			t.Judged(false)
		}),
	rule("11.r_callback_of_a_released_task", "the function of a task that is released before it is done is not called").
		OK("done", func(t *T) {
			task := t.Start(t.Prepare(hbdnn.Relu(1, 2)))
			t.OK("DNNSetTaskDoneCb", task, noting(), nil)
			t.called()
			t.OK("DNNReleaseTask", task)
		}).
		No("released", func(t *T) {
			r, task := t.Prepare(hbdnn.Relu(1, 2)), address()
			r.Control.More = 1
			t.Infer(0, task, r)
			t.OK("DNNSetTaskDoneCb", *task, noting(), nil)
			t.OK("DNNReleaseTask", *task)
			t.uncalled()
			t.Is(hbdnn.InvalidTaskHandle, "DNNWaitTaskDone", *task, 0)
		}),
}
