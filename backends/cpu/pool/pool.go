// Package pool runs the compute threads of the CPU device.
//
// A [Pool] of T threads lets at most T goroutines compute at once, however many
// runs there are: each admitted [Run] has its own caller, and workers fill the
// threads that are left. Runs beyond T wait: those of the highest level go first,
// within a level those of the owner that has used the threads least (owner.go).
// A run that begins may overtake others of its level that have waited for less
// than [turn] and are not much behind it, for a caller that is awake computes
// while one that sleeps is still being woken.
//
// A waiting run gives its CPU away again and again for a while, at most
// [spinTime], and is parked then. A
// worker spins only while a run is active or shortly after, and a thread is free
// for it; otherwise it is parked and uses no CPU.
//
// The pool is separate from GOMAXPROCS, which the process must keep above the
// number of threads so that other goroutines are not held up by computing and
// waiting ones. The package imports the standard library and golang.org/x/sys
// only.
package pool

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Task is divided work. Chunk computes part i of it; worker is the caller's
// index, below [Pool.Threads], for private scratch memory: no two goroutines
// inside one [Run.Do] have the same index. Chunks should take 10 to 100
// microseconds: shorter ones cost overhead, longer ones delay other runs.
type Task interface {
	Chunk(i, worker int)
}

// Func is a function as a [Task].
type Func func(i, worker int)

// Chunk calls f.
func (f Func) Chunk(i, worker int) { f(i, worker) }

// Pool is a fixed number of compute threads.
type Pool struct {
	threads int
	cpus    int // CPUs this process may use
	spins   int // waiting runs that are not parked, at most; each keeps a processor of Go's scheduler
	clock   func() time.Duration
	yield   func() // gives the CPU to others

	slots    []atomic.Pointer[Run] // admitted runs, at most one per thread
	free     atomic.Int32          // free threads; changed with mu held
	waiting  atomic.Int32          // queued runs
	wakeable atomic.Int32          // workers that are parked while a thread is free for them

	mu     sync.Mutex
	active int // admitted runs
	queue  []*Run
	seq    uint64
	accounts
	spinning int
	workers  []*worker
	parked   []*worker
	closed   bool
	done     sync.WaitGroup
}

// New starts a pool of at least one thread; threads-1 workers are created, parked.
func New(threads int) *Pool {
	threads = max(1, threads)
	epoch := time.Now()
	p := &Pool{threads: threads, cpus: allowedCPUs(), spins: 4, slots: make([]atomic.Pointer[Run], threads),
		clock: func() time.Duration { return time.Since(epoch) }, yield: yield}
	p.free.Store(int32(threads))
	// A worker beyond the CPUs that exist can only get in the way.
	for i := 1; i < min(threads, p.cpus); i++ {
		w := &worker{pool: p, id: i, wake: make(chan bool, 1)}
		p.workers = append(p.workers, w)
		p.parked = append(p.parked, w)
		p.done.Add(1)
		go w.loop()
	}
	return p
}

// Threads is the number of threads the pool was made with.
func (p *Pool) Threads() int { return p.threads }

// Width is the number of threads that can work on one run: fewer than Threads
// where the process may use fewer CPUs.
func (p *Pool) Width() int { return 1 + len(p.workers) }

// Waiting is the number of runs that wait for a thread.
func (p *Pool) Waiting() int { return int(p.waiting.Load()) }

// Close stops the workers and waits for them. No run may be active or begin.
func (p *Pool) Close() {
	p.mu.Lock()
	if p.active > 0 || len(p.queue) > 0 {
		n, q := p.active, len(p.queue)
		p.mu.Unlock()
		panic(fmt.Sprintf("pool: close with %d active and %d waiting runs", n, q))
	}
	p.closed = true
	for p.revoke() { // workers that look for work stop looking
		p.free.Add(1)
	}
	for _, w := range p.parked {
		w.wake <- false
	}
	p.parked = nil
	p.mu.Unlock()
	p.done.Wait()
}

// take gives r a thread if one is free, or kept by a worker that has nothing to
// do, and no other run must go first. patient says that r has offered a free
// thread to whoever waits longer. mu is held.
func (p *Pool) take(r *Run, patient bool) bool {
	if len(p.queue) > 0 {
		now := p.clock()
		if first := p.first(now); first != r && !p.overtakes(r, first, now, patient) {
			return false
		}
	}
	if p.free.Load() > 0 {
		p.free.Add(-1)
	} else if !p.revoke() {
		return false
	}
	p.admit(r)
	return true
}

// revoke takes the thread of a worker that has nothing to do. mu is held.
func (p *Pool) revoke() bool {
	for _, w := range p.workers {
		if w.holds.CompareAndSwap(spare, nothing) {
			return true
		}
	}
	return false
}

// admit gives r the thread that the caller accounts for. mu is held.
func (p *Pool) admit(r *Run) {
	r.admitted = true
	p.active++
	p.open(r)
	for i := range p.slots {
		if p.slots[i].Load() == nil {
			p.slots[i].Store(r)
			break
		}
	}
	p.noteWakeable()
}

// release gives a thread back. mu is held.
func (p *Pool) release() {
	p.free.Add(1)
	p.settle()
	p.noteWakeable()
}

// settle hands free threads to parked runs, which do not wake by themselves: a run that is not parked takes a thread by
// itself. mu is held.
func (p *Pool) settle() {
	for r := p.successor(); r != nil; r = p.successor() {
		r.wake()
	}
}

// successor gives a free thread to the parked run that settle would wake, and returns it. mu is held.
func (p *Pool) successor() *Run {
	if p.free.Load() == 0 || len(p.queue) == 0 {
		return nil
	}
	now := p.clock()
	r := p.first(now)
	if !r.parked || p.spinner(r, now) {
		return nil
	}
	p.free.Add(-1)
	p.admit(r)
	p.dequeue(r)
	r.parked = false
	return r
}

// spinner reports whether a queued run that may overtake the first one is not parked. mu is held.
func (p *Pool) spinner(first *Run, now time.Duration) bool {
	if p.spinning == 0 {
		return false
	}
	for _, r := range p.queue {
		if !r.parked && p.overtakes(r, first, now, false) {
			return true
		}
	}
	return false
}

// enqueue lets r wait and reports whether it shall be parked at once. mu is held.
func (p *Pool) enqueue(r *Run) (park bool) {
	p.seq++
	r.seq, r.since = p.seq, p.clock()
	p.arrive(r)
	if r.parked = p.spinning >= p.spins; !r.parked {
		p.spinning++
	}
	p.queue, r.queued = append(p.queue, r), true
	p.waiting.Store(int32(len(p.queue)))
	return r.parked
}

// dequeue ends r's wait. mu is held.
func (p *Pool) dequeue(r *Run) {
	if !r.parked {
		p.spinning--
	}
	i := slices.Index(p.queue, r)
	p.queue, r.queued = slices.Delete(p.queue, i, i+1), false
	r.owner.busy--
	p.waiting.Store(int32(len(p.queue)))
}

// wake hands free threads to parked workers. mu is held.
func (p *Pool) wake() {
	for len(p.queue) == 0 && p.free.Load() > 0 && len(p.parked) > 0 {
		w := p.parked[len(p.parked)-1]
		p.parked = p.parked[:len(p.parked)-1]
		p.free.Add(-1)
		w.holds.Store(spare)
		w.wake <- true
	}
	p.noteWakeable()
}

func (p *Pool) noteWakeable() {
	p.wakeable.Store(int32(min(int(p.free.Load()), len(p.parked))))
}
