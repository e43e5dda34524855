package cpu

import (
	"sync"

	"github.com/anynpu/anynpu/backends/cpu/pool"
	"github.com/anynpu/anynpu/core/device"
)

// rank orders the priorities; the default one counts as medium.
func rank(p device.Priority) int {
	if p == device.PriorityDefault || p > device.PriorityHigh {
		p = device.PriorityMedium
	}
	return int(p)
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
