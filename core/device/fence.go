package device

import "context"

// Fence is a point in time that somebody else's work reaches: what fills the memory of an input.
type Fence interface {
	// Wait returns nil when the fence is signalled, the error of the work that failed to reach it, which then is the error
	// of the run, or ctx.Err() when ctx ends before either. Several goroutines may wait; a fence stays signalled.
	Wait(ctx context.Context) error
	// FD returns a descriptor that poll finds readable once the fence is signalled, for a device that waits outside this
	// process; it stays the fence's. ok is false when there is none.
	FD() (fd int, ok bool)
}

// FenceTaker is a Program whose runs can hand fences with a descriptor to the driver that computes, where that can wait
// for them. Where it cannot, as with inputs that are copied first, a run waits for them itself.
type FenceTaker interface{ TakesFences() bool }

// TakesFences reports whether a program is a FenceTaker that takes them.
func TakesFences(p Program) bool {
	t, is := p.(FenceTaker)
	return is && t.TakesFences()
}
