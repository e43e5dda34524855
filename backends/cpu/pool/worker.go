package pool

import (
	"runtime"
	"time"
)

// worker is one goroutine that helps runs while it holds a thread.
type worker struct {
	pool *Pool
	id   int
	wake chan bool // true: a thread is yours; false: stop
}

// idleLimit is how long a worker spins without finding work before it parks; a
// region that opens later wakes it.
const idleLimit = 200 * time.Microsecond

func (w *worker) loop() {
	defer w.pool.done.Done()
	for <-w.wake {
		w.serve()
	}
}

// serve helps until no run is active, a queued run needs the thread, or there
// has been nothing to do for a while; then it parks.
func (w *worker) serve() {
	p := w.pool
	idle := 0
	var since time.Time
	for p.waiting.Load() == 0 {
		if w.once() {
			idle = 0
			continue
		}
		idle++
		relax(idle, p)
		if idle%64 == 0 {
			switch {
			case !p.anyActive():
				idle = -1
			case idle == 64:
				since = time.Now()
			case time.Since(since) > idleLimit:
				idle = -1
			}
			if idle < 0 {
				break
			}
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.release()
	if p.closed {
		w.wake <- false
		return
	}
	p.parked = append(p.parked, w)
	p.noteWakeable()
}

// once helps the open region of the highest priority.
func (w *worker) once() bool {
	var best *Run
	for i := range w.pool.slots {
		r := w.pool.slots[i].Load()
		if r != nil && r.state.Load() >= open && (best == nil || r.priority.Load() > best.priority.Load()) {
			best = r
		}
	}
	return best != nil && best.help(w.id)
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
// and then Go's, in case GOMAXPROCS leaves no room for the thread waited for.
func relax(i int, p *Pool) {
	if i%1024 == 1023 {
		runtime.Gosched()
		return
	}
	if i%32 == 31 || p.cpus < p.threads {
		yield()
		return
	}
	pause()
}
