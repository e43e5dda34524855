package hbdnn

import (
	"math"
	"runtime"
	"time"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/core/fault"
)

// dnnInfer adds a run of a model to a new task or, if *to is one, to that.
func dnnInfer(to, output *uintptr, input *Tensor, m *Model, c *InferCtrlParam) error {
	if *output == 0 {
		return invalid("output points to NULL: want the array of the model's %d output tensors", len(m.out))
	}
	if err := checkControl(c); err != nil {
		return err
	}
	return enqueue(to, c, 1, func(t *Task) error { return t.add(output, input, m) })
}

// enqueue adds what add adds, which counts as weight members, to a new task or, if *to is one, to that.
func enqueue(to *uintptr, c *InferCtrlParam, weight int, add func(t *Task) error) error {
	if *to != 0 {
		return appendTo(*to, c, weight, add)
	}
	return begin(to, c, &Task{weight: weight}, add)
}

// begin makes the handle of a new task.
func begin(to *uintptr, c *InferCtrlParam, t *Task, add func(t *Task) error) error {
	t.done, t.gone = make(chan struct{}), make(chan struct{})
	if err := add(t); err != nil {
		return err
	}
	submitted(t.members)
	profiling.submitted(t.members)
	if err := queue.admit(t.resize); err != nil {
		t.drop()
		return err
	}
	h, err := handle.Of(t)
	if err != nil {
		queue.dismiss(t.resize)
		t.drop()
		return err
	}
	*to = h
	holdScalers()
	t.submit(c)
	return nil
}

// appendTo adds a run to an open task. The task stays as it was when that fails.
func appendTo(h uintptr, c *InferCtrlParam, weight int, add func(t *Task) error) error {
	t, err := handle.Hold[Task](h)
	if err != nil {
		return t.BadHandle(fault.Wrap(err, "*taskHandle: %#x: want NULL for a new task, or a task whose last member had "+
			"more = 1", h))
	}
	defer handle.Unhold(h)
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.released:
		return refuse(errTaskHandle, "*taskHandle is released")
	case t.state != taskOpen:
		return misused("*taskHandle is a task whose last member had more = 0: a new task begins with *taskHandle NULL")
	case t.weight+weight > maxMembers:
		return refuse(errBatch, "*taskHandle has %d members: a task has at most %d", t.weight, maxMembers)
	}
	before := len(t.members)
	if err := add(t); err != nil {
		return err
	}
	submitted(t.members[before:])
	profiling.submitted(t.members[before:])
	t.weight += weight
	t.submitLocked(c)
	return nil
}

// checkControl refuses what no task can have.
func checkControl(c *InferCtrlParam) error {
	switch {
	case c.priority < 0 || c.priority > preemptive:
		return invalid("inferCtrlParam->priority is %d: want 0 to %d", c.priority, preemptive)
	case c.bpu < 0 || c.bpu > maxCore:
		return invalid("inferCtrlParam->bpuCoreId is %d: want 0, or the sum of HB_BPU_CORE_0 (1) and HB_BPU_CORE_1 (2)", c.bpu)
	case c.dsp < 0 || c.dsp > maxCore:
		return invalid("inferCtrlParam->dspCoreId is %d: want 0, or the sum of HB_DSP_CORE_0 (1) and HB_DSP_CORE_1 (2)", c.dsp)
	case c.more != 0 && c.more != 1:
		return invalid("inferCtrlParam->more is %d: want 1 when the task gets another member, else 0", c.more)
	}
	aimed().tellCores(c.bpu)
	return nil
}

// add makes a member of what a call hands over.
func (t *Task) add(output *uintptr, input *Tensor, m *Model) error {
	if err := m.pack.enter(); err != nil {
		return err
	}
	in, err := m.inputs(input)
	if err != nil {
		m.pack.leave()
		return err
	}
	n := &member{model: m, in: in}
	if n.out, err = m.outputs((*Tensor)(cPointer(*output))); err != nil {
		n.end()
		return err
	}
	t.members = append(t.members, n)
	return nil
}

func (t *Task) submit(c *InferCtrlParam) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.submitLocked(c)
}

// submitLocked queues the task if no other member follows.
func (t *Task) submitLocked(c *InferCtrlParam) {
	if c.more != 0 {
		return
	}
	t.priority, t.custom, t.core, t.state = c.priority, c.custom, c.bpu, taskQueued
	if profiling != nil {
		t.queued = time.Now()
	}
	queue.put(t)
}

// patience is how many times longer than a task is expected to take a call must be ready to wait to compute the task
// itself.
const patience = 16

// dnnWaitTaskDone waits some milliseconds for a task, for ever if timeout is 0 or less. A call that comes before another
// thread has begun to compute the task, and has the time, does so itself: waking two threads takes longer than a small
// model does.
func dnnWaitTaskDone(t *Task, timeout int32) error {
	t.mu.Lock()
	open, us := t.state == taskOpen, t.estimate()
	t.mu.Unlock()
	if open {
		return misused("taskHandle has no last member: its last one had more = 1, so that it waits for another")
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
		return boundary.Note(refuse(errTimeout, "taskHandle is not done after %d ms: wait again, or release it", timeout))
	}
	return t.result()
}

// dnnReleaseTask ends a task. One that waits for its turn never runs, one that runs stops at the next node; both end in
// the background.
func dnnReleaseTask(h uintptr) error {
	t, err := holdTask(h)
	if err != nil {
		return err
	}
	t.mu.Lock()
	if t.released {
		t.mu.Unlock()
		handle.Unhold(h)
		return refuse(errTaskHandle, "taskHandle: %#x is released", h)
	}
	t.released = true
	t.callback = callback{}
	switch t.state {
	case taskOpen:
		t.state = taskDone
		t.err = refuseFor(errRun, errReleased, "taskHandle")
		t.drop()
		close(t.done)
	case taskQueued:
		if queue.remove(t) {
			t.state = taskDone
			t.err = refuseFor(errRun, errReleased, "taskHandle")
			t.drop()
			close(t.done)
		}
	case taskRunning:
		if t.now != nil {
			t.now.exec.Cancel()
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
	queue.dismiss(t.resize)
	dropScalers()
	return nil
}

// dnnGetTaskEstimateTime gives the time that the members of a task take together, 0 for one that is done.
func dnnGetTaskEstimateTime(estimate *int32, t *Task) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	*estimate = clamped(t.estimate())
	return nil
}

// dnnGetTaskEstimateStartTime gives the time until a task with such control values would begin.
func dnnGetTaskEstimateStartTime(estimate *int32, c *InferCtrlParam) error {
	since("hbDNNGetTaskEstimateStartTime", "1.12")
	if err := checkControl(c); err != nil {
		return err
	}
	*estimate = clamped(min(queue.ahead(c), math.MaxInt32))
	return nil
}
