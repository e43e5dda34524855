// Package pool runs the compute threads of the CPU device.
//
// A [Pool] of T threads lets at most T goroutines compute at once, however many
// runs are under way: each admitted [Run] has its own caller, and workers fill
// the threads that are left. Runs beyond T wait in order of priority. A worker
// spins only while a run is active and a thread is free for it; otherwise it is
// parked and uses no CPU.
//
// The pool is separate from GOMAXPROCS, which the process must keep above the
// number of threads so that other goroutines are not held up by computing ones.
// The package imports the standard library and golang.org/x/sys only.
package pool

import (
	"container/heap"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
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
	cpus    int // CPUs this process may use: with fewer than threads, waiting yields at once

	slots    []atomic.Pointer[Run] // admitted runs, at most one per thread
	waiting  atomic.Int32          // queued runs
	top      atomic.Int64          // priority of the first queued run, or minInt
	wakeable atomic.Int32          // workers that are parked while a thread is free for them

	mu     sync.Mutex
	free   int // threads not computing
	active int // admitted runs
	queue  queue
	seq    uint64
	parked []*worker
	closed bool
	done   sync.WaitGroup
}

const noPriority = math.MinInt64

// New starts a pool of at least one thread; threads-1 workers are created, parked.
func New(threads int) *Pool {
	threads = max(1, threads)
	p := &Pool{threads: threads, free: threads, cpus: allowedCPUs(), slots: make([]atomic.Pointer[Run], threads)}
	p.top.Store(noPriority)
	// A worker beyond the CPUs that exist can only get in the way.
	for i := 1; i < min(threads, p.cpus); i++ {
		w := &worker{pool: p, id: i, wake: make(chan bool, 1)}
		p.parked = append(p.parked, w)
		p.done.Add(1)
		go w.loop()
	}
	return p
}

// Threads is the number of threads the pool was made with.
func (p *Pool) Threads() int { return p.threads }

// Close stops the workers and waits for them. No run may be active or begin.
func (p *Pool) Close() {
	p.mu.Lock()
	if p.active > 0 || len(p.queue) > 0 {
		n, q := p.active, len(p.queue)
		p.mu.Unlock()
		panic(fmt.Sprintf("pool: close with %d active and %d waiting runs", n, q))
	}
	p.closed = true
	for _, w := range p.parked {
		w.wake <- false
	}
	p.parked = nil
	p.mu.Unlock()
	p.done.Wait()
}

// admit gives r the thread that the caller accounts for. mu is held.
func (p *Pool) admit(r *Run) {
	p.active++
	for i := range p.slots {
		if p.slots[i].Load() == nil {
			p.slots[i].Store(r)
			return
		}
	}
}

// release passes a thread on: to the first queued run, else to nobody. mu is held.
func (p *Pool) release() {
	if len(p.queue) > 0 {
		r := heap.Pop(&p.queue).(*Run)
		p.noteQueue()
		p.admit(r)
		r.ready <- struct{}{}
		return
	}
	p.free++
}

// noteQueue publishes the state of the queue. mu is held.
func (p *Pool) noteQueue() {
	top := int64(noPriority)
	if len(p.queue) > 0 {
		top = p.queue[0].priority.Load()
	}
	p.top.Store(top)
	p.waiting.Store(int32(len(p.queue)))
}

// wake hands free threads to parked workers. mu is held.
func (p *Pool) wake() {
	for p.active > 0 && p.free > 0 && len(p.parked) > 0 {
		w := p.parked[len(p.parked)-1]
		p.parked = p.parked[:len(p.parked)-1]
		p.free--
		w.wake <- true
	}
	p.noteWakeable()
}

func (p *Pool) noteWakeable() { p.wakeable.Store(int32(min(p.free, len(p.parked)))) }

// queue is a heap: higher priority first, then first come.
type queue []*Run

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	a, b := q[i].priority.Load(), q[j].priority.Load()
	if a != b {
		return a > b
	}
	return q[i].seq < q[j].seq
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(*Run)) }
func (q *queue) Pop() any {
	old := *q
	r := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	return r
}
