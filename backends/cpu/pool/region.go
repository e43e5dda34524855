package pool

import "sync/atomic"

// region is the divided work of a run: open while its own goroutine is in Do.
//
// Each thread has a share of the chunks, by its index, in order: from one step
// of a program to the next it finds in its own caches what it has written, as far
// as chunks go through the data in order, and what a chunk fetches ahead is its
// own. A thread that has finished its share takes from those of others.
type region struct {
	_       [64]byte
	state   atomic.Uint64 // number of the region, open bit, and the number of helpers inside
	task    Task          // written before open is set, read by helpers inside, as are n and of
	n       int           // chunks
	of      int           // shares
	stopped atomic.Bool   // a chunk has panicked: no other starts
	_       [64]byte
	shares  []share

	failed atomic.Pointer[failure]
}

// share is the number of chunks that were taken of one thread's part.
type share struct {
	taken atomic.Int64
	_     [120]byte // neighbouring cache lines are fetched in pairs
}

// failure is a panic of a helper, passed on to the run's own goroutine.
type failure struct{ value any }

const (
	open  = 1 << 32
	count = 1 << 33 // of regions; it wraps around
)

// stopped is the panic of a Do whose run has to stop: Cut has the error.
type stopped struct{}

// cut ends a Do before all chunks are computed.
func (r *Run) cut(err error) {
	r.cutBy = err
	panic(stopped{})
}

// Cut returns the error of the context by which a Do has ended in a panic, once, and nil otherwise: only then whoever
// runs the work may recover, so that other panics keep their origin.
func (r *Run) Cut() error {
	err := r.cutBy
	r.cutBy = nil
	return err
}

// Alone is Do on this goroutine only.
func (r *Run) Alone(n int, t Task) {
	for i := range n {
		if i > 0 {
			r.between(false)
		}
		t.Chunk(i, 0)
	}
}

// Do computes chunks 0 to n-1 of t, on this goroutine and on free threads, and
// returns when all are done. A panic in a chunk is raised again here, after
// every chunk under way has ended. When the run's context is done, Do ends with a
// panic of which Cut tells, and the run may have no thread then.
func (r *Run) Do(n int, t Task) {
	p := r.pool
	if n <= 1 || p.threads == 1 {
		r.Alone(n, t)
		return
	}
	r.task, r.n, r.of = t, n, min(n, len(r.shares))
	r.stopped.Store(false)
	for i := range r.of {
		r.shares[i].taken.Store(0)
	}
	r.openRegion()
	r.lead()
	r.task = nil
	if r.stopped.Load() {
		if f := r.failed.Swap(nil); f != nil {
			panic(f.value)
		}
	}
}

// openRegion lets helpers in.
func (r *Run) openRegion() {
	p := r.pool
	r.state.Add(open + count)
	if p.wakeable.Load() > 0 {
		p.mu.Lock()
		p.wake()
		p.mu.Unlock()
	}
}

// between is called before each chunk of the run's own goroutine but the first; shared says that the region is open.
func (r *Run) between(shared bool) {
	if r.pool.waiting.Load() > 0 {
		r.giveWay(shared)
	}
	if r.ctx != nil {
		if err := r.ctx.Err(); err != nil {
			r.cut(err)
		}
	}
}

// Pause is for work that is not divided, on the run's own goroutine outside of Do: it lets waiting runs go first, as
// between chunks, and ends in a panic of which Cut tells when the run's context is done.
func (r *Run) Pause() { r.between(false) }

// giveWay lets waiting runs go first between two chunks, as Yield does between steps.
func (r *Run) giveWay(shared bool) {
	p := r.pool
	now := p.clock()
	if now-r.looked < look || !r.admitted {
		return
	}
	r.looked = now
	p.mu.Lock()
	if !r.mustYield() {
		p.mu.Unlock()
		return
	}
	if shared {
		p.mu.Unlock()
		r.closeRegion()
		p.mu.Lock()
	}
	r.leave()
	p.release()
	err := r.requeue(r.ctx)
	if shared {
		r.openRegion()
	}
	if err != nil {
		r.cut(err)
	}
}

func (r *Run) lead() {
	done := false
	defer func() {
		if !done {
			r.stopped.Store(true)
		}
		r.closeRegion()
		if !done {
			r.failed.Store(nil) // a helper's, when this goroutine panics as well
		}
	}()
	r.compute(0)
	done = true
}

// compute takes chunks until none is left, those of the thread's own share first.
func (r *Run) compute(worker int) {
	for k := range r.of {
		s := (worker + k) % r.of
		from, to := int64(s*r.n/r.of), int64((s+1)*r.n/r.of)
		taken := &r.shares[s].taken
		for !r.stopped.Load() && from+taken.Load() < to {
			if worker == 0 {
				r.between(true)
			} else if r.pool.waiting.Load() > 0 {
				return
			}
			i := from + taken.Add(1) - 1
			if i >= to {
				break
			}
			r.task.Chunk(int(i), worker)
		}
	}
}

// closeRegion lets no more helpers in and waits for those inside.
func (r *Run) closeRegion() {
	if r.state.Add(^uint64(open-1))%open == 0 {
		return
	}
	for i := 0; r.state.Load()%open != 0; i++ {
		relax(i, r.pool)
	}
}

// number counts the open region, 0 when none is.
func (r *region) number() uint64 {
	if s := r.state.Load(); s&open != 0 {
		return s / count
	}
	return 0
}

// help works on the run's region, if it is still the one of the given number, and reports whether it was.
func (r *Run) help(worker int, number uint64) (did bool) {
	if s := r.state.Add(1); s&open != 0 && s/count == number {
		did = true
		r.assist(worker)
	}
	r.state.Add(^uint64(0))
	return did
}

// assist is compute for a helper: a panic goes to the run's own goroutine.
func (r *Run) assist(worker int) {
	defer func() {
		if e := recover(); e != nil {
			r.failed.Store(&failure{e})
			r.stopped.Store(true)
		}
	}()
	r.compute(worker)
}
