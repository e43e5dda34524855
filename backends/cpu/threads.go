package cpu

import (
	"sync"

	"github.com/anynpu/anynpu/backends/cpu/pool"
	"github.com/anynpu/anynpu/core/device"
)

// rank is the pool's level of a priority; the default one counts as medium.
func rank(p device.Priority) int {
	switch p {
	case device.PriorityLowest:
		return 0
	case device.PriorityLow:
		return 1
	case device.PriorityHigh:
		return 3
	}
	return 2
}

// threads is the pool of compute threads, which exists while programs do.
type threads struct {
	count int
	mu    sync.Mutex
	users int
	pool  *pool.Pool
}

func (t *threads) acquire() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.users++; t.users == 1 {
		t.pool = pool.New(t.count)
	}
}

func (t *threads) get() *pool.Pool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.pool
}

func (t *threads) release() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.users--; t.users == 0 {
		t.pool.Close()
		t.pool = nil
	}
}
