package rknn

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// grace is how long destroying waits for a run before it ends it: a short one ends by itself.
const grace = 15 * time.Millisecond

// stopper ends the run of a context or product that is being destroyed.
type stopper struct {
	running atomic.Pointer[context.CancelFunc]
	used    atomic.Bool
}

// stopped reports whether a run was ended.
func (s *stopper) stopped() bool { return s.used.Load() }

// during has stop called if what computes is to be destroyed before it ends: before the function that it returns is
// called.
func (s *stopper) during(stop context.CancelFunc) func() {
	s.running.Store(&stop)
	return func() { s.running.Store(nil) }
}

// await waits until nobody holds mu, and ends runs that keep it for longer than grace.
func (s *stopper) await(mu *sync.Mutex) {
	for begin, pause := time.Now(), 10*time.Microsecond; !mu.TryLock(); pause = min(2*pause, time.Millisecond) {
		time.Sleep(pause)
		if stop := s.running.Load(); stop != nil && time.Since(begin) > grace {
			s.used.Store(true)
			(*stop)() // again and again: it does nothing for a run that has not begun
		}
	}
	mu.Unlock()
}
