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
	wake     func()        // sends to ready

	// Changed by the run's goroutine and by whoever admits it, with the pool's mu held.
	admitted bool
	parked   bool
	queued   bool
	seq      uint64
	since    time.Duration // when it joined the queue
	offered  time.Duration // when it last made room for others in vain
	owner    *owner
	level    int64         // while admitted: that with which it was let in
	keeps    time.Duration // until when it has that level
	timed    bool          // while admitted: others have waited since from
	from     time.Duration // since when its time is charged
	took     time.Duration // charged since Begin
	looked   time.Duration // when it last looked between chunks whether others go first
	ctx      context.Context
	cutBy    error // why Do has ended early

	region
}

// NewRun makes a run of a level, 0 to [Levels]-1; a higher one is admitted first. Runs of one owner take the turns of
// one; it is a pointer, or nil for a run that stands for itself. Release ends the run.
func (p *Pool) NewRun(priority int, of any) *Run {
	r := &Run{pool: p, ready: make(chan struct{}, 1)}
	r.wake = func() { r.ready <- struct{}{} }
	r.shares = make([]share, 1+len(p.workers))
	r.priority.Store(int64(priority))
	p.mu.Lock()
	r.owner = p.account(of, priority)
	p.mu.Unlock()
	return r
}

// Release forgets the owner of a run that is not used any more.
func (r *Run) Release() {
	r.pool.mu.Lock()
	r.pool.drop(r.owner)
	r.pool.mu.Unlock()
}

// Begin waits until the pool has a thread for this run, or until ctx is done,
// whose error it returns.
func (r *Run) Begin(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	p := r.pool
	r.ctx = ctx
	p.mu.Lock()
	if p.take(r, false) {
		p.mu.Unlock()
		return nil
	}
	park := p.enqueue(r)
	p.mu.Unlock()
	return r.wait(ctx, park)
}

// Sleeps reports whether Begin would have to wait, because others do or every thread has a run, and is better called on
// a goroutine of its own then: runs of this owner take longer than waking the caller. It can be called at any time.
func (r *Run) Sleeps() bool {
	if time.Duration(r.owner.usual.Load()) < wakes {
		return false
	}
	p := r.pool
	if p.waiting.Load() > 0 {
		return true
	}
	for i := range p.slots {
		if p.slots[i].Load() == nil {
			return false
		}
	}
	return true
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
	if wake := r.Part(); wake != nil {
		wake()
	}
}

// Part is End for a goroutine that has little left to do. A wake that is not nil must be called: it wakes the run that
// has the thread next. The goroutine calls it last, and Go's scheduler goes on with that run where this one ends.
func (r *Run) Part() (wake func()) {
	r.ctx = nil
	if !r.admitted {
		return nil
	}
	p := r.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	r.leave()
	r.learn()
	p.free.Add(1)
	next := p.successor()
	p.settle()
	p.noteWakeable()
	if next == nil {
		return nil
	}
	return next.wake
}

// leave gives up the slot of an admitted run. mu is held.
func (r *Run) leave() {
	p := r.pool
	r.admitted = false
	p.active--
	p.charge(r)
	for i := range p.slots {
		if p.slots[i].Load() == r {
			p.slots[i].Store(nil)
			return
		}
	}
}

// Yield lets waiting runs go first, those of a higher level at once and those of the same level as owner.go says; a run
// calls it between steps, and Do does the like between chunks. When no run waits it costs little more than ctx.Err,
// which it returns. After an error the run has no thread.
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
	return r.requeue(ctx)
}

// requeue lets a run that has left wait for its next turn. mu is held, and released.
func (r *Run) requeue(ctx context.Context) error {
	p := r.pool
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
	now := p.clock()
	first := p.first(now)
	if theirs, mine := first.levelAt(now), r.heldAt(now); theirs != mine {
		return theirs > mine
	}
	if !first.parked && now-r.offered < turn/4 {
		return false
	}
	if first.owner == r.owner {
		return r.timed && now-r.from > r.owner.lead()
	}
	return r.usedAt(now)-first.owner.used > first.owner.lead()
}

// spinTime is how long a run waits awake at most. On a machine that has nothing else to do it gives its CPU away
// spinYields times meanwhile; where others want the CPU it comes back late, and a run that is parked is woken sooner.
const spinTime = 250 * time.Microsecond

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
		p.mu.Lock()
		r.awake()
		p.mu.Unlock()
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
	begin := p.clock()
	for i := 0; yields < limit && ctx.Err() == nil && p.clock()-begin <= spinTime; i++ {
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
