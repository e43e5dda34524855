package hbdnn

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
	sizes    [][]int64 // of the outputs of the members of a task that is done
	weight   int       // of the members, of which a region counts one too
	resize   bool      // it is hbDNNResize's
	now      *runner   // that computes, in state taskRunning
	released bool
	err      error // of a task that is done
	callback callback
}

// BadHandle gives an error the code for what is no task's handle.
func (*Task) BadHandle(err error) error { return refuseFor(errTaskHandle, err, "no task") }

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
	r, err := m.model.execs.borrow(t.core)
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
	err = guarded(errRun, tensors, func() error { return r.run(m.model, m.in, m.out) })
	t.mu.Lock()
	t.now = nil
	if err == nil {
		m.sizes = r.sizes
	}
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
	for _, m := range t.members {
		t.sizes = append(t.sizes, m.sizes...)
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

// result is what a call that waited returns when the task is done or released.
func (t *Task) result() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.released {
		return refuse(errTaskHandle, "taskHandle was released while this call waited for it")
	}
	return t.err
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

func (t *Task) estimate() (us int64) {
	for _, m := range t.members {
		if m.model != nil {
			us += m.model.latency.Load()
		}
	}
	return us
}

// A callback is an hbDNNTaskDoneCb with its userdata. The zero callback is none.
type callback struct{ function, user, task uintptr }
