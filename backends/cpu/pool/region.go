package pool

import "sync/atomic"

// region is the divided work of a run: open while its own goroutine is in Do.
type region struct {
	_     [64]byte
	state atomic.Int64 // open bit and the number of helpers inside
	n     atomic.Int64 // chunks
	task  Task         // written before open is set, read by helpers inside
	_     [64]byte
	next  atomic.Int64 // chunks taken by the run's own goroutine, from the front, and, times back, by helpers, from the end
	_     [64]byte

	failed atomic.Pointer[failure]
}

// failure is a panic of a helper, passed on to the run's own goroutine.
type failure struct{ value any }

const (
	open = 1 << 32
	back = 1 << 32
)

// Do computes chunks 0 to n-1 of t, on this goroutine and on free threads, and
// returns when all are done. A panic in a chunk is raised again here, after
// every chunk under way has ended.
func (r *Run) Do(n int, t Task) {
	p := r.pool
	if n <= 1 || p.threads == 1 {
		for i := range n {
			t.Chunk(i, 0)
		}
		return
	}
	r.task = t
	r.n.Store(int64(n))
	r.failed.Store(nil) // a helper's, when this goroutine panicked as well
	r.next.Store(0)
	r.state.Add(open)
	if p.wakeable.Load() > 0 {
		p.mu.Lock()
		p.wake()
		p.mu.Unlock()
	}
	r.lead(t, n)
	r.task = nil
	if f := r.failed.Load(); f != nil {
		r.failed.Store(nil)
		panic(f.value)
	}
}

func (r *Run) lead(t Task, n int) {
	defer r.closeRegion()
	for {
		v := r.next.Add(1)
		i := int(v % back)
		if i+int(v/back) > n {
			return
		}
		t.Chunk(i-1, 0)
	}
}

// takeBack returns the next chunk for a helper. The two ends keep, from one step of a program to the next, what a thread has written in its own
// caches, as far as chunks go through the data in order.
func (r *region) takeBack(n int) (i int, ok bool) {
	v := r.next.Add(back)
	i = n - int(v/back)
	return i, i >= int(v%back)
}

// closeRegion lets no more helpers in and waits for those inside.
func (r *Run) closeRegion() {
	r.next.Store(r.n.Load()) // after a panic, helpers start no more chunks
	r.state.Add(-open)
	for i := 0; r.state.Load() != 0; i++ {
		relax(i, r.pool)
	}
}

// wants reports whether the region is open and has chunks left.
func (r *region) wants() bool {
	if r.state.Load() < open {
		return false
	}
	v := r.next.Load()
	return v%back+v/back < r.n.Load()
}

// help works on the run's region, and reports whether it was open.
func (r *Run) help(worker int) (did bool) {
	if r.state.Add(1) >= open {
		did = true
		r.chunks(worker)
	}
	r.state.Add(-1)
	return did
}

func (r *Run) chunks(worker int) {
	defer func() {
		if e := recover(); e != nil {
			r.failed.Store(&failure{e})
			r.next.Store(r.n.Load())
		}
	}()
	t, n := r.task, int(r.n.Load())
	for r.pool.waiting.Load() == 0 { // a queued run gets this thread first
		i, ok := r.takeBack(n)
		if !ok {
			return
		}
		t.Chunk(i, worker)
	}
}
