package driver

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
)

// DefaultPatience is the time that an abandoned call may take before the device counts as dead.
const DefaultPatience = 10 * time.Second

// Life is the life of a device behind a driver. It ends once, when a call that was given up does not return: from then
// on no function of the driver is called for the device.
type Life struct {
	id       string
	patience atomic.Int64
	told     atomic.Pointer[func(reason string)]

	once sync.Once
	died chan struct{}
	why  error // set before died is closed
}

// NewLife is the life of the device with an id. patience 0 stands for DefaultPatience; told is called once, with the
// reason, when the device dies, and may be nil.
func NewLife(id string, patience time.Duration, told func(reason string)) *Life {
	l := &Life{id: id, died: make(chan struct{})}
	if patience == 0 {
		patience = DefaultPatience
	}
	l.SetPatience(patience)
	l.Tell(told)
	return l
}

// SetPatience is for the calls that are given up from now on.
func (l *Life) SetPatience(patience time.Duration) { l.patience.Store(int64(patience)) }

// Tell replaces what is called when the device dies.
func (l *Life) Tell(told func(reason string)) { l.told.Store(&told) }

// Alive is the error of a device that has died, with device.ErrDied in its chain, else nil.
func (l *Life) Alive() error {
	select {
	case <-l.died:
		return l.why
	default:
		return nil
	}
}

// Done is closed when the device dies.
func (l *Life) Done() <-chan struct{} { return l.died }

// End ends the life for a reason. Only the first reason counts.
func (l *Life) End(format string, args ...any) {
	l.once.Do(func() {
		reason := fmt.Sprintf(format, args...)
		l.why = fault.As(fault.Device, device.ErrDied, "%s: %s", l.id, reason)
		close(l.died)
		if told := *l.told.Load(); told != nil {
			told(reason)
		}
	})
}

// Lane lets one run at a time into an object of the driver's. It is full while the driver runs, also after a run was
// given up.
type Lane chan struct{}

// NewLane returns an empty lane.
func NewLane() Lane { return make(Lane, 1) }

// Enter waits for the lane; leave gives it back. With a ctx that is done already it takes no lane, free or not.
func (l Lane) Enter(ctx context.Context, life *Life) (leave func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case l <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-life.died:
		return nil, life.why
	}
	if err := life.Alive(); err != nil {
		<-l
		return nil, err
	}
	return func() { <-l }, nil
}

// Call makes a call of the driver that may take long, and calls ended when the driver has returned. When ctx is done
// the call is given up: it goes on, keeps the lane, and is the end of the device if it takes longer than the device's
// patience; *leave then does nothing any more. function is what the reason names.
func (l Lane) Call(ctx context.Context, life *Life, function string, f func() error, leave *func(),
	ended func()) error {
	return l.callAfter(ctx, life, function, nil, f, leave, ended)
}

// callAfter is Call of a function that waits for fences, of which it has the descriptors: patience counts from when
// they are signalled.
func (l Lane) callAfter(ctx context.Context, life *Life, function string, fences []int, f func() error, leave *func(),
	ended func()) error {
	result, returned := make(chan error, 1), make(chan struct{})
	go func() {
		result <- f()
		close(returned)
	}()
	var why error
	select {
	case err := <-result:
		ended()
		return err
	case <-ctx.Done():
		why = ctx.Err()
	case <-life.died:
		why = life.why
	}
	*leave = func() {}
	fenced := duplicate(fences)
	go func() {
		fenced.wait(returned)
		patience := time.Duration(life.patience.Load())
		timer := time.NewTimer(patience)
		select {
		case <-returned:
		case <-timer.C:
			life.End("%s did not return within %v after it was given up", function, patience)
			<-returned
		}
		timer.Stop()
		<-l
		ended()
	}()
	return why
}
