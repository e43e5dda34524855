package hb

import (
	"runtime"
	"time"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/core/fault"
)

// Begin makes the handle of a new task, whose first members add adds.
func (t *Task) Begin(to *uintptr, add func(t *Task) error) error {
	t.done, t.gone = make(chan struct{}), make(chan struct{})
	if err := add(t); err != nil {
		return err
	}
	if err := t.Limit.admit(t.API); err != nil {
		t.drop()
		return err
	}
	h, err := handle.Of(t)
	if err != nil {
		t.Limit.dismiss()
		t.drop()
		return err
	}
	*to = h
	return nil
}

// Extend adds to an open task what add adds, which counts as weight members, and calls then. The task stays as it was
// when that fails.
func (a *API) Extend(h uintptr, weight int, add func(t *Task) error, then func(t *Task)) error {
	t, err := handle.Hold[Task](h)
	if err != nil {
		return t.BadHandle(fault.Wrap(err, "*taskHandle: %#x: want NULL for a new task, or %s", h, a.Wanted))
	}
	defer handle.Unhold(h)
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.released:
		return Refuse(BadTaskHandle, "*taskHandle is released [hb-task-handle-released-extend]")
	case t.state != taskOpen:
		return Misused("*taskHandle is %s: a new task begins with *taskHandle NULL [hb-task-handle-new]", a.Closed)
	case t.Weight+weight > MaxMembers:
		return Refuse(ManyMembers, "*taskHandle has %d members: a task has at most %d "+
			"[hb-task-handle-members]", t.Weight, MaxMembers)
	}
	if err := add(t); err != nil {
		return err
	}
	t.Weight += weight
	then(t)
	return nil
}

// Submit queues a task that is open. It reports whether it was, and was not released.
func (t *Task) Submit(o Order) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.state != taskOpen || t.released {
		return false
	}
	t.SubmitLocked(o)
	return true
}

// SubmitLocked queues an open task whose lock is held.
func (t *Task) SubmitLocked(o Order) {
	t.Order, t.state = o, taskQueued
	t.Queued = time.Now()
	queue.put(t)
}

// patience is how many times longer than a task is expected to take a call must be ready to wait to compute the task
// itself.
const patience = 16

// Await waits some milliseconds for a task, for ever if timeout is 0 or less. A call that comes before another thread
// has begun to compute the task, and has the time, does so itself: waking two threads takes longer than a small model
// does.
func (t *Task) Await(timeout int32) error {
	t.mu.Lock()
	open, us := t.state == taskOpen, t.estimate()
	t.mu.Unlock()
	if open {
		return Misused("taskHandle %s [hb-task-handle]", t.API.Unfilled)
	}
	if timeout <= 0 || us > 0 && us*patience <= int64(timeout)*1000 {
		queue.runHere(t)
	}
	var expired <-chan time.Time
	if timeout > 0 {
		select {
		case <-t.done:
			return t.result()
		default:
		}
		timer := time.NewTimer(time.Duration(timeout) * time.Millisecond)
		defer timer.Stop()
		expired = timer.C
	}
	select {
	case <-t.done:
	case <-t.gone:
	case <-expired:
		return boundary.Note(Refuse(Timeout, "taskHandle is not done after %d ms: wait again, or release it "+
			"[hb-task-handle-done]", timeout))
	}
	return t.result()
}

// Release ends a task. One that waits for its turn never runs, one that runs stops at the next node; both end in the
// background.
func Release(h uintptr) error {
	t, err := HoldTask(h)
	if err != nil {
		return err
	}
	t.mu.Lock()
	if t.released {
		t.mu.Unlock()
		handle.Unhold(h)
		return Refuse(BadTaskHandle, "taskHandle: %#x is released [hb-task-handle-released]", h)
	}
	t.released = true
	t.callback = callback{}
	switch t.state {
	case taskOpen:
		t.abandon()
	case taskQueued:
		if queue.remove(t) {
			t.abandon()
		}
	case taskRunning:
		if t.now != nil {
			t.now.Exec.Cancel()
		}
	}
	close(t.gone)
	t.mu.Unlock()
	handle.Unhold(h)
	if t.turn.Load() == turnHere {
		<-t.done // another thread, which waits for the task, computes it: until its node is done
	}
	for !handle.Drop(t) {
		runtime.Gosched() // a call that waits has been woken
	}
	t.Limit.dismiss()
	if t.Gone != nil {
		t.Gone()
	}
	return nil
}

// abandon ends a task that never runs; the lock is held.
func (t *Task) abandon() {
	t.state = taskDone
	t.err = RefuseFor(RunFailed, errReleased, "taskHandle")
	t.drop()
	close(t.done)
}
