// Package exec runs programs: Run waits for one run of an execution, Task gives devices the asynchronous life of one
// (start, deadline, fences, cancel, release), Base what all of them have besides, and Plan joins programs on several
// devices into one.
package exec

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
)

// Task is the life of a device.Execution: at most one run at a time, asynchronous, with deadline, fences and
// cancellation. The zero Task is idle and ready. All methods are safe for concurrent use.
type Task struct {
	// Fences says that work waits for the fences of a run itself, as Await does. Set before the first run.
	Fences bool
	// Sleeps, if set, reports whether work would wait long if it began now: a run of Here gets a goroutine of its own
	// then. It is called at any time. Set before the first run.
	Sleeps func() bool
	// Parting, if set, is called when work has returned, still as a part of the run. A last that is not nil is called
	// before Done; after it, when another run may be under way, if the caller of Start only waits. Set before the first
	// run.
	Parting func() (last func())

	mu     sync.Mutex
	run    *runContext   // of the run under way, nil: idle
	idle   chan struct{} // made by Close while a run is under way, closed when it has ended
	closed bool

	// Kept from run to run, so that starting one allocates nothing.
	context *runContext // nil: none that could be used again
	request device.RunRequest
	work    func(ctx context.Context) error
	body    func() // t.perform
}

// Do calls f while no run is under way and none can start; kind fault.State when a run is under way or the task is
// closed.
func (t *Task) Do(f func() error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.ready(); err != nil {
		return err
	}
	return f()
}

func (t *Task) ready() error {
	switch {
	case t.closed:
		return fault.New(fault.State, "the execution is released")
	case t.run != nil:
		return fault.New(fault.State, "a run is under way")
	}
	return nil
}

// Start checks with prepare, called as in Do, that a run may begin, and then calls work on a goroutine of its own, or
// on the caller's if r.Here is set and it does not sleep: after the fences, unless the deadline passed or Cancel was
// called before. Work finds r under device.RequestKey in its context, and looks at its context between steps; its Err
// is a *fault.Error of kind fault.Timeout or fault.Canceled. A panic in work becomes an error of kind fault.Internal,
// an access to memory that has vanished one of kind fault.Memory (goroutines that work starts must see to both
// themselves). When work has returned the task is idle, and then r.Done is called.
func (t *Task) Start(r device.RunRequest, prepare func() error, work func(ctx context.Context) error) error {
	if err := t.begin(r, prepare, work); err != nil {
		return err
	}
	if r.Here && (t.Sleeps == nil || !t.Sleeps()) {
		t.perform()
		return nil
	}
	go t.body()
	return nil
}

func (t *Task) begin(r device.RunRequest, prepare func() error, work func(ctx context.Context) error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.ready(); err != nil {
		return err
	}
	if prepare != nil {
		if err := prepare(); err != nil {
			return err
		}
	}
	if t.context == nil {
		t.context = &runContext{}
	}
	if t.body == nil {
		t.body = t.perform
	}
	t.context.limited = false
	if limit := time.Duration(runLimit.Load()); limit > 0 {
		if at := time.Now().Add(limit); r.Deadline.IsZero() || at.Before(r.Deadline) {
			r.Deadline, t.context.limited = at, true
		}
	}
	t.context.begin(r)
	t.run, t.request, t.work = t.context, r, work
	return nil
}

// perform is the goroutine of a run.
func (t *Task) perform() {
	run, r := t.run, t.request
	fences := r.Fences
	if t.Fences {
		fences = nil
	}
	err := protect(run, fences, t.work)
	var last func()
	if t.Parting != nil {
		last = t.Parting()
	}
	again := run.end()
	t.mu.Lock()
	t.run, t.request, t.work = nil, device.RunRequest{}, nil
	if !again {
		t.context = nil
	}
	if t.idle != nil {
		close(t.idle)
	}
	t.mu.Unlock()
	if last != nil && !r.Here {
		last()
	}
	if r.Done != nil {
		r.Done(err)
	}
	if last != nil && r.Here {
		last()
	}
}

// protect waits for the fences, calls work, and turns panics and the context's errors into errors of the right kind.
func protect(run *runContext, fences []device.Fence, work func(ctx context.Context) error) (err error) {
	// Memory shared with another process may vanish under a run (a file that was cut short): that is an error, not the end
	// of the process.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch v := recover().(type) {
		case nil:
		case interface{ Addr() uintptr }:
			err = fault.New(fault.Memory, "memory cannot be accessed at address %#x%s", v.Addr(), origin())
		default:
			err = fault.New(fault.Internal, "panic: %v%s", v, origin())
		}
	}()
	if err := Await(run, fences); err != nil {
		return err
	}
	if err = work(run); err == nil {
		return nil
	}
	if stop := run.Err(); stop != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		return fault.As(fault.KindOf(stop), fault.Reword(err, withoutContext), "run stopped")
	}
	return err
}

// withoutContext leaves out Go's words for an end that the error's kind tells.
func withoutContext(message string) string {
	for _, err := range []error{context.Canceled, context.DeadlineExceeded} {
		message = strings.TrimSuffix(message, ": "+err.Error())
	}
	return message
}

// Await waits for the fences of the run that ctx belongs to. The error comes from ctx or a fence.
func Await(ctx context.Context, fences []device.Fence) error {
	for i, f := range fences {
		if err := f.Wait(ctx); err != nil && ctx.Err() == nil {
			return fault.Wrap(err, "fence %d", i)
		}
	}
	return ctx.Err()
}

// origin returns where the panic being recovered was raised: " at file.go:12", empty when it is not known.
func origin() string {
	var pcs [32]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	for {
		f, more := frames.Next()
		if f.Function != "" && !strings.HasPrefix(f.Function, "runtime.") {
			return fmt.Sprintf(" at %s:%d", f.File[strings.LastIndexByte(f.File, '/')+1:], f.Line)
		}
		if !more {
			return ""
		}
	}
}

// Cancel stops the run under way; a no-op when there is none.
func (t *Task) Cancel() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.run != nil {
		t.run.stop(errCanceled)
	}
}

// Close cancels a run under way, waits until it has ended, and lets no other begin. It returns true for the first call
// only: the caller frees its memory then. It may be called from within Done.
func (t *Task) Close() bool {
	t.mu.Lock()
	first := !t.closed
	t.closed = true
	if t.run != nil {
		if t.idle == nil {
			t.idle = make(chan struct{})
		}
		t.run.stop(errCanceled)
	}
	idle := t.idle
	t.mu.Unlock()
	if idle != nil {
		<-idle
	}
	return first
}

// runLimit is the limit that LimitRuns has set.
var runLimit atomic.Int64

// LimitRuns ends every run that takes longer with an error of kind fault.Timeout, whoever began it, and whatever later
// deadline it has; 0: none does.
func LimitRuns(limit time.Duration) { runLimit.Store(int64(limit)) }

// Within calls f, which computes without a task, with a context that ends as of does, or as LimitRuns says.
func Within(of context.Context, f func(ctx context.Context) error) error {
	limit := time.Duration(runLimit.Load())
	if limit == 0 {
		return f(of)
	}
	ctx, cancel := context.WithTimeoutCause(of, limit, overLimit(limit))
	defer cancel()
	err := f(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return context.Cause(ctx)
	}
	return err
}

func overLimit(limit time.Duration) error {
	return fault.As(fault.Timeout, context.DeadlineExceeded, "it takes longer than %v, the limit of every run "+
		"(ANYNPU_RUN_TIMEOUT)", limit)
}

// late is why a run whose deadline has passed must stop.
func (c *runContext) late() error {
	if !c.limited {
		return errTimeout
	}
	return overLimit(time.Duration(runLimit.Load()))
}

var (
	errCanceled = fault.As(fault.Canceled, context.Canceled, "")
	errTimeout  = fault.As(fault.Timeout, context.DeadlineExceeded, "")
)

// runContext is the context of one run. Err only looks at a flag and the clock; a timer exists only once Done was asked
// for.
type runContext struct {
	request device.RunRequest
	limited bool // the deadline comes from LimitRuns
	mu      sync.Mutex
	err     error
	done    chan struct{}
	timer   *time.Timer
}

// Deadline returns the run's deadline.
func (c *runContext) Deadline() (time.Time, bool) {
	return c.request.Deadline, !c.request.Deadline.IsZero()
}

// Value returns what was asked of the run for device.RequestKey, nil for any other key.
func (c *runContext) Value(key any) any {
	if _, is := key.(device.RequestKey); is {
		return &c.request
	}
	return nil
}

// Err returns why the run must stop, nil while it may go on.
func (c *runContext) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if deadline, limited := c.Deadline(); limited && c.err == nil && !time.Now().Before(deadline) {
		c.stopLocked(c.late())
	}
	return c.err
}

// Done returns a channel that is closed when the run must stop.
func (c *runContext) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done == nil {
		c.done = make(chan struct{})
		switch {
		case c.err != nil:
			close(c.done)
		case !c.request.Deadline.IsZero():
			c.timer = time.AfterFunc(time.Until(c.request.Deadline), func() { c.stop(c.late()) })
		}
	}
	return c.done
}

func (c *runContext) stop(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopLocked(err)
}

func (c *runContext) stopLocked(err error) {
	if c.err != nil {
		return
	}
	c.err = err
	if c.done != nil {
		close(c.done)
	}
}

// begin makes a new or ended context that of a run.
func (c *runContext) begin(r device.RunRequest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.request, c.err = r, nil
}

// end frees the timer and whoever still waits on the context. It can begin again unless somebody has asked for its
// channel, and may be looking at it still.
func (c *runContext) end() (again bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer != nil {
		c.timer.Stop()
	}
	c.stopLocked(errCanceled)
	if c.done == nil { // no reader is left
		c.request = device.RunRequest{}
	}
	return c.done == nil
}
