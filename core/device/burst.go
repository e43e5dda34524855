package device

import (
	"context"
	"sync"
)

// Burst is a program's burst: runs of one compiled model, one after the other, for which a device may keep something
// ready. The zero Burst is ready to use. All methods are safe for concurrent use.
type Burst struct {
	mu    sync.Mutex
	ended bool
	kept  map[any]func()
}

// Keep notes that a device keeps something for the burst, under a key of its own; end ends it, and is called once, when
// the burst ends. Of a burst that has ended Keep returns false, and end is not called.
func (b *Burst) Keep(key any, end func()) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended {
		return false
	}
	if b.kept == nil {
		b.kept = map[any]func(){}
	}
	b.kept[key] = end
	return true
}

// Drop forgets what is kept under a key, which has ended before the burst.
func (b *Burst) Drop(key any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.kept, key)
}

// End ends the burst. A run of it that is under way goes on, and what a device keeps for it ends with the run.
func (b *Burst) End() {
	b.mu.Lock()
	kept := b.kept
	b.ended, b.kept = true, nil
	b.mu.Unlock()
	for _, end := range kept {
		end()
	}
}

// BurstOf returns the burst that the run which ctx belongs to is part of; nil: it is part of none.
func BurstOf(ctx context.Context) *Burst {
	if r := requested(ctx); r != nil {
		return r.Burst
	}
	return nil
}
