package pool

import (
	"container/heap"
	"sync/atomic"
)

// Run is one execution's use of the pool. It is made once and used again and
// again: Begin, any number of Do and Yield, End, all from one goroutine at a
// time. These calls allocate nothing.
type Run struct {
	pool     *Pool
	priority atomic.Int64
	seq      uint64
	ready    chan struct{}

	task Task // written before open is set, read after it is seen
	n    int

	_     [64]byte
	state atomic.Int64 // open bit and the number of helpers inside
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

// NewRun makes a run; a higher priority is admitted first.
func (p *Pool) NewRun(priority int) *Run {
	r := &Run{pool: p, ready: make(chan struct{}, 1)}
	r.SetPriority(priority)
	return r
}

// SetPriority changes the priority; not while the run waits in Begin or Yield.
func (r *Run) SetPriority(priority int) { r.priority.Store(int64(priority)) }

// Begin waits until the pool has a thread for this run.
func (r *Run) Begin() {
	p := r.pool
	p.mu.Lock()
	if p.free > 0 && len(p.queue) == 0 {
		p.free--
		p.admit(r)
		p.noteWakeable()
		p.mu.Unlock()
		return
	}
	r.enqueue()
	p.mu.Unlock()
	<-r.ready
}

func (r *Run) enqueue() {
	r.pool.seq++
	r.seq = r.pool.seq
	heap.Push(&r.pool.queue, r)
	r.pool.noteQueue()
}

// leave gives up the slot and the thread of an admitted run. mu is held.
func (r *Run) leave() {
	p := r.pool
	p.active--
	for i := range p.slots {
		if p.slots[i].Load() == r {
			p.slots[i].Store(nil)
			break
		}
	}
	p.release()
}

// End gives the thread back.
func (r *Run) End() {
	r.pool.mu.Lock()
	r.leave()
	r.pool.noteWakeable()
	r.pool.mu.Unlock()
}

// Yield lets a waiting run of higher priority go first; a run calls it between
// steps. Without one it costs an atomic load.
func (r *Run) Yield() {
	p := r.pool
	if p.top.Load() <= r.priority.Load() {
		return
	}
	p.mu.Lock()
	if len(p.queue) == 0 || p.queue[0].priority.Load() <= r.priority.Load() {
		p.mu.Unlock()
		return
	}
	r.leave() // to the first of the queue, before r joins it
	r.enqueue()
	p.mu.Unlock()
	<-r.ready
}

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
	r.task, r.n = t, n
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
func (r *Run) takeBack(n int) (i int, ok bool) {
	v := r.next.Add(back)
	i = n - int(v/back)
	return i, i >= int(v%back)
}

// closeRegion lets no more helpers in and waits for those inside.
func (r *Run) closeRegion() {
	r.next.Store(int64(r.n)) // after a panic, helpers start no more chunks
	r.state.Add(-open)
	for i := 0; r.state.Load() != 0; i++ {
		relax(i, r.pool)
	}
}

// help works on the run's open region, if there is one, and reports whether it was.
func (r *Run) help(worker int) (did bool) {
	if r.state.Load() < open {
		return false
	}
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
			r.next.Store(int64(r.n))
		}
	}()
	t, n := r.task, r.n
	for r.pool.waiting.Load() == 0 { // a queued run gets this thread first
		i, ok := r.takeBack(n)
		if !ok {
			return
		}
		t.Chunk(i, worker)
	}
}
