package driver

import (
	"context"
	"errors"
	"sync"

	"github.com/anynpu/anynpu/core/fault"
)

// Build is how a driver makes an object, such as a compilation, out of something that is written first.
type Build struct {
	Write func() error            // on the caller's goroutine
	Make  func() (uintptr, error) // may take long, and be given up
	End   func(object uintptr)    // ends an object of Make's that has no waiter
	Ended func()                  // is called when Make has returned, also if it was given up
}

// Build has the driver build, one at a time. Until Make returns it keeps its operands, also when it was given up.
// function names the driver's function that Make calls. Errors come from Write and Make, and have kind fault.Canceled
// when ctx ended it.
func (d *Device) Build(ctx context.Context, function string, b Build) (uintptr, error) {
	if err := d.Alive(); err != nil {
		return 0, err
	}
	leave, err := d.Building.Enter(ctx, d.Life)
	if err != nil {
		return 0, canceled(err)
	}
	defer func() { leave() }()
	if err := b.Write(); err != nil {
		return 0, d.Note(err)
	}
	var made handoff
	err = d.Building.Call(ctx, d.Life, function, func() error {
		object, err := b.Make()
		if err == nil && !made.finish(object) {
			b.End(object)
		}
		return err
	}, &leave, b.Ended)
	if err != nil {
		if object := made.giveUp(); object != 0 {
			b.End(object)
		}
		return 0, canceled(d.Note(err))
	}
	return made.object, nil
}

// canceled gives the error of a context that ended a compilation its kind, fault.Canceled. Others stay as they are.
func canceled(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return fault.As(fault.Canceled, err, "compile")
	}
	return err
}

// handoff passes an object of the driver's from the call that makes it to the one that waits for it, which may give up:
// then whoever comes second ends the object. The zero value is ready.
type handoff struct {
	mu      sync.Mutex
	object  uintptr // only who was told that the call has succeeded may read it without the lock
	givenUp bool
}

// finish keeps an object, or returns false: it has no waiter, and the caller ends it.
func (h *handoff) finish(object uintptr) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.givenUp {
		h.object = object
	}
	return !h.givenUp
}

// giveUp ends the wait. It returns the object that is there already, which the caller ends, or 0.
func (h *handoff) giveUp() uintptr {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.givenUp = true
	return h.object
}
