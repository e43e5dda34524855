package rknn

import (
	"sync"
	"time"
)

// grace is how long destroying waits for a run before it ends it: a short one ends by itself.
const grace = 8 * time.Millisecond

// await waits until mu is free, and has stop called again and again if that takes longer than grace: a run may begin
// after a call of it.
func await(mu *sync.Mutex, stop func()) {
	for begin, pause := time.Now(), 10*time.Microsecond; !mu.TryLock(); pause = min(2*pause, time.Millisecond) {
		time.Sleep(pause)
		if time.Since(begin) > grace {
			stop()
		}
	}
	mu.Unlock()
}
