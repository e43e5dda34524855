package rknn

import (
	"context"
	"time"
)

// lane lets one run at a time into a context of the driver's. It is full while the driver runs, also after a run was
// given up.
type lane chan struct{}

// enter waits for the lane; leave gives it back.
func (l lane) enter(ctx context.Context, d *Device) (leave func(), err error) {
	select {
	case l <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-d.died:
		return nil, d.why
	}
	if err := d.alive(); err != nil {
		<-l
		return nil, err
	}
	return func() { <-l }, nil
}

// call makes a call of the driver that may take long, and calls ended when the driver has returned. When ctx is done the
// call is given up: it goes on, keeps the lane, and is the end of the device if it takes longer than the device's
// patience; *leave then does nothing any more.
func (l lane) call(ctx context.Context, d *Device, function string, f func() (int32, error), leave *func(),
	ended func()) error {
	result := make(chan error, 1)
	go func() {
		code, err := f()
		result <- call(function, code, err)
	}()
	var why error
	select {
	case err := <-result:
		ended()
		return err
	case <-ctx.Done():
		why = ctx.Err()
	case <-d.died:
		why = d.why
	}
	*leave = func() {}
	go func() {
		patience := time.Duration(d.patience.Load())
		timer := time.NewTimer(patience)
		select {
		case <-result:
		case <-timer.C:
			d.die("%s did not return within %v after it was given up", function, patience)
			<-result
		}
		timer.Stop()
		<-l
		ended()
	}()
	return why
}
