package hb

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/core/fault"
)

// The states of a task.
const (
	taskOpen    = iota // it gets more members, or is not submitted
	taskQueued         // waits for its turn
	taskRunning        // a member is computed
	taskDone           // its result is known
)

// MaxMembers is how many members a task has at most.
const MaxMembers = 255

// Task is a task's handle: members that are computed one after another when the last one is there (section 4).
type Task struct {
	handle.Ref
	API    *API
	Extra  any                            // the façade's
	Limit  *Limit                         // that counts the task
	Weight int                            // of the members, of which a region counts one too
	Gone   func()                         // called when the program has released the task, nil: nothing
	Ran    func(t *Task, begun time.Time) // called when all members have run well, nil: nothing
	Queued time.Time                      // when the task was submitted

	done chan struct{} // closed when the result is known
	gone chan struct{} // closed when the program has released the task
	turn atomic.Int32

	Order
	order uint64
	since time.Time // when it was queued

	mu       sync.Mutex // guards what follows
	state    int
	members  []Member
	sizes    [][]int64 // of the outputs of the members of a task that is done
	now      *Runner   // that computes, in state taskRunning
	released bool
	err      error // of a task that is done
	callback callback
}

// Order says when a task comes, and where it runs.
type Order struct {
	Priority int32
	Custom   int64
	Core     uint64 // mask of cores
}

// A Member is one piece of a task's work.
type Member interface {
	Label() string        // what errors call it
	Run(t *Task) error    // computes it, on one thread
	Computed()            // called when it has run well
	Sizes() [][]int64     // of the outputs of a run that has ended well
	Estimate() (us int64) // of its time
	End()                 // releases its objects
}

// BadHandle gives an error the code for a handle that is no task's.
func (*Task) BadHandle(err error) error { return RefuseFor(BadTaskHandle, err, "no task [hb-no-task]") }

// Add adds members. The lock is held, or the task has no handle yet.
func (t *Task) Add(m ...Member) { t.members = append(t.members, m...) }

// Members returns the added members; the lock is held, or the task has no handle yet.
func (t *Task) Members() []Member { return t.members }

// drop lets go of the members.
func (t *Task) drop() {
	for _, m := range t.members {
		m.End()
	}
	t.members = nil
}

// run computes the members and publishes the result. The task is out of the queue. It returns the program's function,
// to be called when the task's place is free: it may wait for other tasks.
func (t *Task) run() callback {
	t.mu.Lock()
	t.state = taskRunning
	t.mu.Unlock()
	begun := time.Now()
	var err error
	for i, m := range t.members {
		if err = m.Run(t); err != nil {
			if len(t.members) > 1 {
				err = fault.Wrap(err, "member %d", i)
			}
			err = fault.Wrap(err, "%s", m.Label())
			break
		}
		m.Computed()
	}
	if err == nil && t.Ran != nil {
		t.Ran(t, begun)
	}
	return t.finish(err)
}

// errReleased is the end of a task that the program has released before.
var errReleased = fault.New(fault.Canceled, "the task was released before it was done [hb-task-released-done]")

// tensors is whose memory may vanish under a task.
const tensors = "memory of the task's tensors"

// Work computes a member that runs no model.
func (t *Task) Work(f func() error) error {
	t.mu.Lock()
	released := t.released
	t.mu.Unlock()
	if released {
		return errReleased
	}
	return Guarded(RunFailed, tensors, f)
}

// Compute computes a member on an execution of x and returns how long that took.
func (t *Task) Compute(x *Executions, run func(r *Runner) error) (took time.Duration, err error) {
	r, err := x.borrow(uint32(t.Core))
	if err != nil {
		return 0, err
	}
	t.mu.Lock()
	if t.released {
		t.mu.Unlock()
		r.giveBack(false)
		return 0, errReleased
	}
	t.now = r
	t.mu.Unlock()
	start := time.Now()
	err = Guarded(RunFailed, tensors, func() error { return run(r) })
	t.mu.Lock()
	t.now = nil
	t.mu.Unlock()
	r.giveBack(err != nil)
	return time.Since(start), err
}

// finish publishes the result and wakes those that wait.
func (t *Task) finish(err error) callback {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.state = taskDone
	if err != nil {
		t.err = RefuseFor(RunFailed, err, "taskHandle")
	}
	for _, m := range t.members {
		t.sizes = append(t.sizes, m.Sizes()...)
	}
	t.drop()
	call := t.callback
	if t.released {
		call = callback{}
	}
	t.callback = callback{}
	if err != nil && call.function != 0 { // the function gets no reason
		boundary.Log(boundary.LevelError, t.API.Component, "a task failed [hb-task-failed]", "error", err)
	}
	close(t.done)
	return call
}

// result is the result of a call that waited when the task is done or released.
func (t *Task) result() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.released {
		return Refuse(BadTaskHandle, "taskHandle was released while this call waited for it "+
			"[hb-task-handle-released-waited]")
	}
	return t.err
}

// HoldTask returns the task of a handle, held until handle.Unhold.
func HoldTask(h uintptr) (*Task, error) {
	if h == 0 {
		return nil, (*Task)(nil).BadHandle(fault.Wrap(handle.ErrNull, "taskHandle"))
	}
	t, err := handle.Hold[Task](h)
	if err != nil {
		return nil, t.BadHandle(fault.Wrap(err, "taskHandle: %#x", h))
	}
	return t, nil
}

// Estimate is the time that the members of a task that is not done take together.
func (t *Task) Estimate() (us int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.estimate()
}

func (t *Task) estimate() (us int64) {
	for _, m := range t.members {
		us += m.Estimate()
	}
	return us
}

// Succeeded reports whether the task is done and did not fail.
func (t *Task) Succeeded() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.state == taskDone && t.err == nil && !t.released
}

// Submitted reports whether the task gets no more members.
func (t *Task) Submitted() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.state != taskOpen
}

// OutputShape returns the sizes of output i of a task that is done, counted through the models of all its members. It
// serves anynpu_output_shape.
func (t *Task) OutputShape(i int) ([]int64, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.state != taskDone || t.err != nil {
		return nil, fault.New(fault.State, "handle: the task has no results: %s must succeed before "+
			"[hb-handle-task-no]", t.API.Wait)
	}
	if i < 0 || i >= len(t.sizes) {
		return nil, fault.New(fault.Argument, "output is %d: the task has %d outputs "+
			"[hb-output-task-outputs]", i, len(t.sizes))
	}
	return t.sizes[i], nil
}

// A callback is a program's function with its userdata. The zero callback is none.
type callback struct{ function, user, task uintptr }
