package pool

import (
	"context"
	"sync/atomic"
	"time"
)

// Run is one execution's use of the pool. It is made once and used again and
// again: Begin, any number of Do and Yield, End, all from one goroutine at a
// time. Unless it has to wait, these calls allocate nothing.
type Run struct {
	pool     *Pool
	priority atomic.Int64
	ready    chan struct{} // wakes a parked run that has been admitted

	// Changed by the run's goroutine and by whoever admits it, with the pool's mu held.
	admitted bool
	parked   bool
	place    int // in the queue
	seq      uint64
	since    time.Duration // when it joined the queue
	offered  time.Duration // when it last made room for others in vain

	region
}

// NewRun makes a run; a higher priority is admitted first.
func (p *Pool) NewRun(priority int) *Run {
	r := &Run{pool: p, ready: make(chan struct{}, 1)}
	r.shares = make([]share, 1+len(p.workers))
	r.SetPriority(priority)
	return r
}

// SetPriority changes the priority; not while the run waits in Begin or Yield.
func (r *Run) SetPriority(priority int) { r.priority.Store(int64(priority)) }

// Begin waits until the pool has a thread for this run, or until ctx is done,
// whose error it returns.
func (r *Run) Begin(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	p := r.pool
	p.mu.Lock()
	if p.take(r, false) {
		p.mu.Unlock()
		return nil
	}
	park := p.enqueue(r)
	p.mu.Unlock()
	return r.wait(ctx, park)
}

// Next is Begin for a run that has no thread and Yield for one that has.
func (r *Run) Next(ctx context.Context) error {
	if r.admitted {
		return r.Yield(ctx)
	}
	return r.Begin(ctx)
}

// End gives the thread back; nothing if the run has none.
func (r *Run) End() {
	if !r.admitted {
		return
	}
	p := r.pool
	p.mu.Lock()
	r.leave()
	p.release()
	p.mu.Unlock()
}

// leave gives up the slot of an admitted run. mu is held.
func (r *Run) leave() {
	p := r.pool
	r.admitted = false
	p.active--
	for i := range p.slots {
		if p.slots[i].Load() == r {
			p.slots[i].Store(nil)
			return
		}
	}
}

// Yield lets waiting runs go first, those of higher priority at once and those
// of the same priority that have waited for a turn; a run calls it between steps.
// When nobody waits it costs little more than ctx.Err, which it returns. After an
// error the run has no thread.
func (r *Run) Yield(ctx context.Context) error {
	err := ctx.Err()
	p := r.pool
	if err == nil && p.waiting.Load() == 0 {
		return nil
	}
	p.mu.Lock()
	if err == nil && !r.mustYield() {
		p.mu.Unlock()
		return nil
	}
	r.leave()
	p.release()
	if err != nil {
		p.mu.Unlock()
		return err
	}
	park := p.enqueue(r)
	r.offered = r.since
	p.settle()
	p.mu.Unlock()
	return r.wait(ctx, park)
}

// mustYield reports whether the first of the queue goes before r. mu is held.
func (r *Run) mustYield() bool {
	p := r.pool
	if len(p.queue) == 0 {
		return false
	}
	first, mine := p.queue[0], r.priority.Load()
	switch theirs := first.priority.Load(); {
	case theirs != mine:
		return theirs > mine
	case first.parked:
		return p.overdue(first)
	}
	return p.overdue(first) && p.now()-r.offered >= turn/4
}

const (
	spinPauses = 16  // looks at the pool before the CPU is given away for the first time
	spinYields = 256 // times that a waiting run gives its CPU away before it is parked
	offers     = 4   // of them, those during which it leaves a free thread to whoever is overdue
)

// wait returns when the queued run has been admitted, or with ctx's error. park says that it may not spin.
func (r *Run) wait(ctx context.Context, park bool) error {
	p := r.pool
	if !park && r.spin(ctx) {
		return nil
	}
	p.mu.Lock()
	if !r.admitted && !r.parked {
		if r.tryTake(true) {
			p.mu.Unlock()
			return nil
		}
		r.parked = true
		p.spinning--
		p.settle()
	}
	p.mu.Unlock()
	select {
	case <-r.ready:
		return nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.admitted { // at the same moment
		<-r.ready
		r.leave()
		p.release()
	} else {
		p.dequeue(r)
		p.settle()
	}
	return ctx.Err()
}

// tryTake is take for a queued run. mu is held.
func (r *Run) tryTake(patient bool) bool {
	p := r.pool
	if !p.take(r, patient) {
		return false
	}
	p.dequeue(r)
	p.settle()
	p.noteWakeable()
	return true
}

// spin waits without being parked and reports whether the run was admitted.
func (r *Run) spin(ctx context.Context) bool {
	p := r.pool
	yields, limit := 0, spinYields
	if p.threads < p.cpus { // there are CPUs that the pool is to leave alone
		limit /= 4
	}
	for i := 0; yields < limit && ctx.Err() == nil; i++ {
		if p.free.Load() > 0 || p.idleWorker() {
			p.mu.Lock()
			done := r.tryTake(yields >= offers)
			p.mu.Unlock()
			if done {
				return true
			}
		}
		if i < spinPauses && p.cpus > 1 {
			pause()
		} else {
			yields++
			yield()
		}
	}
	return false
}

// idleWorker reports whether a worker keeps a thread and has nothing to do.
func (p *Pool) idleWorker() bool {
	for _, w := range p.workers {
		if w.holds.Load() == spare {
			return true
		}
	}
	return false
}
