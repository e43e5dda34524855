package cpu

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/anynpu/anynpu/core/device"
)

// gate lets at most limit steps of all executions compute at once. When more want to, those of higher priority go first, within a priority
// the one that waits longest.
type gate struct {
	mu      sync.Mutex
	limit   int
	free    int
	waiting atomic.Int32                             // length of the queue
	queue   [device.PriorityHigh + 1][]chan struct{} // by rank, waiting longest first
}

func newGate(limit int) *gate { return &gate{limit: max(limit, 1), free: max(limit, 1)} }

// rank orders the priorities; the default one counts as medium.
func rank(p device.Priority) int {
	if p == device.PriorityDefault || p > device.PriorityHigh {
		p = device.PriorityMedium
	}
	return int(p)
}

// idle reports whether nobody has a place.
func (g *gate) idle() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.free == g.limit
}

// enter waits for a place, or until ctx is done.
func (g *gate) enter(ctx context.Context, p device.Priority) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	g.mu.Lock()
	if g.free > 0 {
		g.free--
		g.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	r := rank(p)
	g.queue[r] = append(g.queue[r], turn)
	g.waiting.Add(1)
	g.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	g.mu.Lock()
	for i, c := range g.queue[r] {
		if c == turn {
			g.queue[r] = append(g.queue[r][:i:i], g.queue[r][i+1:]...)
			g.waiting.Add(-1)
			g.mu.Unlock()
			return ctx.Err()
		}
	}
	g.mu.Unlock()
	g.leave() // the turn came at the same moment
	return ctx.Err()
}

// leave gives the place to the next in line.
func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for r := len(g.queue) - 1; r >= 0; r-- {
		if q := g.queue[r]; len(q) > 0 {
			g.queue[r] = q[1:]
			g.waiting.Add(-1)
			close(q[0])
			return
		}
	}
	g.free++
}
