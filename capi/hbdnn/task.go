package hbdnn

import (
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/core/fault"
)

// The states of a task.
const (
	taskOpen    = iota // its last member had more = 1
	taskQueued         // waits for its turn
	taskRunning        // a member is computed
	taskDone           // its result is known
)

// Task is an hbDNNTaskHandle_t: members that are computed one after another when the last one is there (section 4).
type Task struct {
	handle.Ref
	done chan struct{} // closed when the result is known
	gone chan struct{} // closed when the program has released the task
	turn atomic.Int32

	priority int32 // of the last member, as what follows up to order
	custom   int64
	core     int32
	order    uint64
	queued   time.Time // when the last member came, if there is a profile

	mu       sync.Mutex // guards what follows
	state    int
	members  []*member
	weight   int     // of the members, of which a region counts one too
	resize   bool    // it is hbDNNResize's
	now      *runner // that computes, in state taskRunning
	released bool
	err      error // of a task that is done
	callback callback
}

// A member is one run of a model, or the scaling of an image.
type member struct {
	model   *Model
	in, out []bound
	scaled  *scaled // nil: a run of the model
}

// label is what errors call the member.
func (m *member) label() string {
	if m.model == nil {
		return "resize"
	}
	return fmt.Sprintf("model %q", m.model.name)
}

// BadHandle gives an error the code for what is no task's handle.
func (*Task) BadHandle(err error) error { return refuseFor(errTaskHandle, err, "no task") }

// end lets go of what a member has.
func (m *member) end() {
	for _, list := range [][]bound{m.in, m.out} {
		for _, b := range list {
			b.release()
		}
	}
	if m.scaled != nil {
		m.scaled.from.release()
		m.scaled.to.release()
		return
	}
	m.model.pack.leave()
}

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

// drop lets go of the members.
func (t *Task) drop() {
	for _, m := range t.members {
		m.end()
	}
	t.members = nil
}

// run computes the members and publishes the result. The task is out of the queue. What is returned is the program's
// function, to be called when the task's place is free: it may wait for other tasks.
func (t *Task) run() callback {
	t.mu.Lock()
	t.state = taskRunning
	t.mu.Unlock()
	begun := time.Now()
	var err error
	for i, m := range t.members {
		if err = t.compute(m); err != nil {
			if len(t.members) > 1 {
				err = fault.Wrap(err, "member %d", i)
			}
			err = fault.Wrap(err, "%s", m.label())
			break
		}
		m.computed()
	}
	if err == nil && profiling != nil {
		t.profile(begun)
	}
	return t.finish(err)
}

// profile takes the task, which has run, into the profiles of its models.
func (t *Task) profile(begun time.Time) {
	told := map[*profile]bool{}
	for _, m := range t.members {
		if m.model != nil && !told[m.model.profile] {
			told[m.model.profile] = true
			m.model.profile.done(t.core, t.queued, begun)
		}
	}
}

// errReleased is the end of a task that the program has released before.
var errReleased = fault.New(fault.Canceled, "the task was released before it was done")

// tensors is whose memory may vanish under a task.
const tensors = "memory of the task's tensors"

// compute runs one member.
func (t *Task) compute(m *member) error {
	if m.scaled != nil {
		t.mu.Lock()
		released := t.released
		t.mu.Unlock()
		if released {
			return errReleased
		}
		return guarded(errRun, tensors, m.scaled.run)
	}
	r, err := m.model.borrow(t.core)
	if err != nil {
		return err
	}
	t.mu.Lock()
	if t.released {
		t.mu.Unlock()
		r.giveBack(false)
		return errReleased
	}
	t.now = r
	t.mu.Unlock()
	start := time.Now()
	err = guarded(errRun, tensors, func() error { return r.run(m.in, m.out) })
	t.mu.Lock()
	t.now = nil
	t.mu.Unlock()
	if err == nil && m.model.profile != nil {
		m.model.profile.ran(t.queued, r.prepared, r.exec.Stats().Nodes)
	}
	r.giveBack(err != nil)
	if err == nil {
		m.model.learn(time.Since(start))
	}
	return err
}

// finish publishes the result and wakes those that wait.
func (t *Task) finish(err error) callback {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.state = taskDone
	if err != nil {
		t.err = refuseFor(errRun, err, "taskHandle")
	}
	t.drop()
	call := t.callback
	if t.released {
		call = callback{}
	}
	t.callback = callback{}
	if err != nil && call.function != 0 { // the function is told no reason
		boundary.Log(boundary.LevelError, "hbdnn", "a task failed", "error", err)
	}
	close(t.done)
	return call
}

// code is what a task that is done came to.
func (t *Task) code() Code { return status(t.err) }

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

// result is what a call that waited returns when the task is done or released.
func (t *Task) result() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.released {
		return refuse(errTaskHandle, "taskHandle was released while this call waited for it")
	}
	return t.err
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

// holdTask returns the task of a handle, held until handle.Unhold.
func holdTask(h uintptr) (*Task, error) {
	if h == 0 {
		return nil, (*Task)(nil).BadHandle(fault.Wrap(handle.ErrNull, "taskHandle"))
	}
	t, err := handle.Hold[Task](h)
	if err != nil {
		return nil, t.BadHandle(fault.Wrap(err, "taskHandle: %#x", h))
	}
	return t, nil
}

// dnnGetTaskEstimateTime gives the time that the members of a task take together, 0 for one that is done.
func dnnGetTaskEstimateTime(estimate *int32, t *Task) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	*estimate = clamped(t.estimate())
	return nil
}

func (t *Task) estimate() (us int64) {
	for _, m := range t.members {
		if m.model != nil {
			us += m.model.latency.Load()
		}
	}
	return us
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
