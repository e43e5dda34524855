package ref

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Kernels know nothing of who waits for them. Functions that may take long call tick again and again, in every loop
// that only the sizes of tensors bound: there a computation pauses, which lets others go first or ends it. Whose
// computation a tick belongs to, the thread tells, which the computation has to itself meanwhile.

const (
	// long is the work from which on a computation pauses: what is less ends by itself in a few milliseconds.
	long = 1 << 18
	// apart is how long a computation goes on before it pauses again.
	apart = 2 * time.Millisecond
	// stretch is how many elements are copied or added up between two ticks at most: some 100 us.
	stretch = 1 << 16
)

// The states of a computation that pauses.
const (
	computes int32 = iota
	isDue          // its next tick pauses
	ended
)

// pausing is a computation on a thread.
type pausing struct {
	state atomic.Int32
	pause func()
	timer *time.Timer
}

var (
	due    atomic.Int32 // computations whose next tick pauses
	onLoan struct {
		sync.Mutex
		threads map[int]*pausing
	}
)

// tick is where a computation may pause. It costs a load where none is due.
func tick() {
	if due.Load() != 0 {
		pauseHere()
	}
}

func pauseHere() {
	onLoan.Lock()
	p := onLoan.threads[thread()]
	onLoan.Unlock()
	if p == nil || !p.state.CompareAndSwap(isDue, computes) {
		return
	}
	due.Add(-1)
	p.pause()
	p.timer.Reset(apart)
}

// fall makes the next tick pause.
func (p *pausing) fall() {
	if p.state.CompareAndSwap(computes, isDue) {
		due.Add(1)
	}
}

// pauses lets ticks on this goroutine call pause from time to time until end is called. Inside of another computation
// the pauses of that one go on.
func pauses(pause func()) (end func()) {
	runtime.LockOSThread()
	id := thread()
	onLoan.Lock()
	defer onLoan.Unlock()
	if id < 0 || onLoan.threads[id] != nil {
		return runtime.UnlockOSThread
	}
	p := &pausing{pause: pause}
	p.timer = time.AfterFunc(apart, p.fall)
	if onLoan.threads == nil {
		onLoan.threads = map[int]*pausing{}
	}
	onLoan.threads[id] = p
	return func() {
		p.timer.Stop()
		if p.state.Swap(ended) == isDue {
			due.Add(-1)
		}
		onLoan.Lock()
		delete(onLoan.threads, id)
		onLoan.Unlock()
		runtime.UnlockOSThread()
	}
}

// copyBytes is copy with ticks.
func copyBytes(dst, src []byte) {
	inStretches(min(len(dst), len(src)), func(from, to int) { copy(dst[from:to], src[from:to]) })
}

// inStretches calls f for parts of n elements, with a tick between them.
func inStretches(n int, f func(from, to int)) {
	for from := 0; from < n; from += stretch {
		tick()
		f(from, min(from+stretch, n))
	}
}
