package pool

import (
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// worker is one goroutine that helps runs while it holds a thread.
type worker struct {
	pool *Pool
	id   int
	wake chan bool // true: a thread is yours; false: stop

	last   *Run // whose region it has helped last
	number uint64

	_     [64]byte
	holds atomic.Int32
	_     [64]byte
}

// What a worker holds.
const (
	nothing int32 = iota
	spare         // a thread that it does not use: a run may take it away
	busy          // a thread that computes
)

const (
	// idleLimit is how long a worker spins without finding work while a run is active before it parks; a region that opens
	// later wakes it.
	idleLimit = 200 * time.Microsecond
	// restLimit is alike while no run is active: calls in a loop find it awake.
	restLimit = 50 * time.Microsecond
)

func (w *worker) loop() {
	defer w.pool.done.Done()
	debug.SetPanicOnFault(true) // of this goroutine: memory of a program may vanish, and then the run fails
	for <-w.wake {
		w.serve()
	}
}

// serve helps until a run takes or needs the thread, or there has been nothing
// to do for a while; then it parks.
func (w *worker) serve() {
	p := w.pool
	idle := 0
	var since time.Time // the first look at the clock after work
	for p.waiting.Load() == 0 && w.holds.Load() == spare {
		if w.once() {
			idle = 0
			since = time.Time{}
			continue
		}
		if idle++; !relax(idle, p) {
			continue
		}
		// A yield lasts as long as others compute: the clock is read after each.
		if now := time.Now(); since.IsZero() {
			since = now
		} else if d := now.Sub(since); d > idleLimit || d > restLimit && !p.anyActive() {
			break
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.holds.CompareAndSwap(spare, nothing) {
		p.release()
	}
	if p.closed {
		w.wake <- false
		return
	}
	p.parked = append(p.parked, w)
	p.noteWakeable()
	// A region that opened before the line above has seen no worker to wake; one that opens after it wakes this one.
	if best, _ := w.find(); best != nil {
		p.wake()
	}
}

// find returns the open region of the highest priority and its number, nil if there is none that the worker has not
// helped already: when it came back, there was no chunk left.
func (w *worker) find() (best *Run, number uint64) {
	for i := range w.pool.slots {
		r := w.pool.slots[i].Load()
		if r == nil {
			continue
		}
		k := r.number()
		if k != 0 && (r != w.last || k != w.number) && (best == nil || r.priority.Load() > best.priority.Load()) {
			best, number = r, k
		}
	}
	return best, number
}

// once helps the region that find returns and reports whether there was one.
func (w *worker) once() bool {
	best, number := w.find()
	if best == nil || !w.holds.CompareAndSwap(spare, busy) {
		return false
	}
	did := best.help(w.id, number)
	w.last, w.number = best, number
	w.holds.Store(spare)
	return did
}

func (p *Pool) anyActive() bool {
	for i := range p.slots {
		if p.slots[i].Load() != nil {
			return true
		}
	}
	return false
}

// relax passes a moment of waiting: the CPU's pause at first, then the operating
// system's yield, which also serves machines with fewer CPUs than threads, and now
// and then Go's, in case GOMAXPROCS leaves no room for the thread waited for. It
// reports whether others may have had the CPU meanwhile.
func relax(i int, p *Pool) bool {
	switch {
	case i%1024 == 1023:
		runtime.Gosched()
	case i%32 == 31 || p.cpus < p.threads:
		p.yield()
	default:
		pause()
		return false
	}
	return true
}
