package driver

import "sync"

// Handoff passes an object of the driver's from the call that makes it to the one that waits for it, which may give up:
// then whoever comes second ends the object. The zero value is ready.
type Handoff struct {
	mu      sync.Mutex
	object  uintptr
	givenUp bool
}

// Finish keeps an object, or returns false: nobody waits for it, and the caller ends it.
func (h *Handoff) Finish(object uintptr) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.givenUp {
		h.object = object
	}
	return !h.givenUp
}

// GiveUp says that nobody waits any more. It returns the object that is there already, which the caller ends, or 0.
func (h *Handoff) GiveUp() uintptr {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.givenUp = true
	return h.object
}

// Object is what Finish kept. Only who was told that the call has succeeded may ask.
func (h *Handoff) Object() uintptr { return h.object }
