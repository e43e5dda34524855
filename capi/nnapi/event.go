package nnapi

import (
	"context"

	"github.com/anynpu/anynpu/capi/handle"
)

// Event is an ANeuralNetworksEvent (section 6): the end of a computation, or a sync fence. Safe for concurrent use.
type Event struct {
	handle.Ref
	fence *fence // nil: of a computation

	done chan struct{} // closed at the end of a computation
	err  error         // of the computation, once done is closed
}

func newEvent() *Event { return &Event{done: make(chan struct{})} }

// set ends the computation.
func (ev *Event) set(err error) {
	ev.err = err
	close(ev.done)
}

// wait returns the error of the computation or of the fence, or that of ctx if it ends before.
func (ev *Event) wait(ctx context.Context) error {
	if ev.fence != nil {
		return ev.fence.wait(ctx)
	}
	select {
	case <-ev.done:
		return ev.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func eventWait(ev *Event) error { return ev.wait(context.Background()) }

// eventFree waits for the end of a computation. A fence is not waited for.
func eventFree(ev *Event) error {
	switch {
	case ev == nil:
	case ev.fence != nil:
		ev.fence.release()
	default:
		<-ev.done
	}
	return nil
}

func eventCreateFromSyncFenceFd(fd int32) (*Event, error) {
	if fd <= 0 {
		return nil, badData("sync_fence_fd: %d: want an open descriptor above 0 [nnapi-sync-fence-fd]", fd)
	}
	f, err := newFence(int(fd))
	if err != nil {
		return nil, refuseFor(BadData, err, "sync_fence_fd: %d [nnapi-fence-fd]", fd)
	}
	return &Event{fence: f}, nil
}

// eventGetSyncFenceFd gives a duplicate, which the program closes. Without an event it is -1 too, so that what a
// program closes later is no descriptor.
func eventGetSyncFenceFd(ev *Event, fd *int32) error {
	*fd = -1
	if ev == nil {
		return null("event")
	}
	if ev.fence == nil {
		return badData("event: it is the end of a computation of this library and has no fence " +
			"[nnapi-event-end-computation]")
	}
	own, err := ev.fence.duplicate()
	if err != nil {
		return refuseFor(OpFailed, err, "event")
	}
	*fd = int32(own)
	return nil
}
