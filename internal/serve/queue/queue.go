// Package queue computes requests for one program: a bounded number of them waits, a few executions compute, and
// requests of equal sizes are joined to batches where the program allows it.
package queue

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
)

// What Do returns for a request that was not begun, and that may be sent elsewhere.
var (
	ErrFull   = errors.New("the queue is full")
	ErrClosed = errors.New("the model is being unloaded")
)

// Config says how many requests wait and how they are computed.
type Config struct {
	Limit     int           // requests that may wait, 1 or more
	Instances int           // executions, which compute at the same time; 1 or more
	Batch     int           // indices of the first dimension that are computed together, at most; below 2: none are joined
	Delay     time.Duration // how long a request waits for others to be joined with
	// Joined is told once that requests are joined from now on, or why they are not; nil: nobody is.
	Joined func(ok bool, why string)
}

// Result is what became of a request.
type Result struct {
	Out     []tensor.Tensor // by output
	Wait    time.Duration   // in the queue
	Compute time.Duration   // of the run, which it may have shared
	Shared  int             // requests in the run, 1 or more
}

// Queue holds the requests for one program. All methods are safe for concurrent use.
type Queue struct {
	program device.Program
	in, out []device.Port
	config  Config
	counts  counts

	mu      sync.Mutex
	change  *sync.Cond
	waiting []*job
	groups  map[*group]bool // that are collected or computed
	workers int
	idle    int // workers that wait for a request
	closed  bool
	halted  bool // what waits is given up, too
	joining joining
	done    sync.WaitGroup
}

// New returns a queue for a program, of which it keeps a reference until Close.
func New(p device.Program, c Config) *Queue {
	p.Retain()
	q := &Queue{program: p, config: c, groups: map[*group]bool{}}
	q.in, q.out = p.Ports()
	q.change = sync.NewCond(&q.mu)
	q.joining.set(q.in, q.out, c)
	return q
}

// job is a request that waits or is computed.
type job struct {
	in    []tensor.Tensor
	rows  int64  // of the first dimension of every input; 0: it is not joined with others
	key   string // equal for requests that can be joined
	until time.Time
	since time.Time
	ended chan outcome // takes one
	group *group       // nil: it waits
	gone  bool         // nobody wants the result
}

type outcome struct {
	Result
	err error
}

// group is what one run computes.
type group struct {
	jobs []*job
	live int // jobs whose result is wanted
	rows int64
	stop context.CancelFunc // nil: it is still collected
}

// Do computes the outputs for one tensor per input, in the order of the ports, whose data stay as they are until it
// returns and may be read for as long as the run goes on. The result is the caller's. When ctx ends it returns at once,
// with kind fault.Timeout or fault.Canceled; the run stops when nobody waits for it any more. Other errors: ErrFull,
// ErrClosed, those of the run.
func (q *Queue) Do(ctx context.Context, in []tensor.Tensor) (Result, error) {
	j := &job{in: in, since: time.Now(), ended: make(chan outcome, 1)}
	j.until, _ = ctx.Deadline()
	j.rows, j.key = q.joining.sort(in)
	if err := q.put(j); err != nil {
		return Result{}, err
	}
	var o outcome
	select {
	case o = <-j.ended:
	case <-ctx.Done():
		q.abandon(j)
		o.err = stopped(ctx)
	}
	q.counts.add(&o)
	return o.Result, o.err
}

// stopped is the error of a request whose context has ended.
func stopped(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fault.New(fault.Timeout, "the deadline passed")
	}
	return fault.New(fault.Canceled, "the request was cancelled")
}

// put has a job wait.
func (q *Queue) put(j *job) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.closed:
		return ErrClosed
	case len(q.waiting) >= q.config.Limit:
		q.counts.refused.Add(1)
		return ErrFull
	}
	q.waiting = append(q.waiting, j)
	if len(q.waiting) > q.idle && q.workers < q.config.Instances {
		q.workers++
		q.done.Add(1)
		go q.work()
	}
	q.change.Broadcast()
	return nil
}

// abandon takes away a job that nobody waits for any more.
func (q *Queue) abandon(j *job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	j.gone = true
	if g := j.group; g != nil {
		if g.live--; g.live == 0 && g.stop != nil {
			g.stop()
		}
		return
	}
	for i, w := range q.waiting {
		if w == j {
			q.waiting = append(q.waiting[:i], q.waiting[i+1:]...)
			return
		}
	}
}

// Waiting returns how many requests wait, and how many runs are under way.
func (q *Queue) Waiting() (requests, runs int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting), len(q.groups)
}

// Close refuses further requests, waits until those that there are have ended, and frees everything. When ctx ends
// before, it stops the runs under way and fails what waits with ErrClosed.
func (q *Queue) Close(ctx context.Context) {
	q.mu.Lock()
	first := !q.closed
	q.closed = true
	q.change.Broadcast()
	q.mu.Unlock()
	halt := context.AfterFunc(ctx, q.halt)
	defer halt()
	q.done.Wait()
	if first {
		q.program.Release()
	}
}

func (q *Queue) halt() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.halted = true
	for _, j := range q.waiting {
		j.ended <- outcome{err: ErrClosed}
	}
	q.waiting = nil
	for g := range q.groups {
		if g.stop != nil {
			g.stop()
		}
	}
	q.change.Broadcast()
}
