package driver

import (
	"context"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/exec"
)

// Fenced are Calls of a driver that waits for fences itself.
type Fenced interface {
	// Hand gives the driver the fences with these descriptors, for which the next run then waits before it reads an input.
	// function is the call that Run then makes; "": the driver does not take them. Run follows in any case.
	Hand(fds []int) (function string)
}

// await waits for the fences of a run, but for those that may be handed on, which it returns. A run that has a deadline
// hands none on, as the driver cannot be made to stop waiting, and neither does one that copies inputs.
func (e *Execution) await(ctx context.Context) (left []device.Fence, err error) {
	if !e.Task.Fences { // the task has waited
		return nil, nil
	}
	fences := device.Fences(ctx)
	if _, limited := ctx.Deadline(); limited || e.copies() {
		return nil, exec.Await(ctx, fences)
	}
	for i, f := range fences {
		if _, ok := f.FD(); ok {
			left = append(left, f)
		} else if err := exec.Await(ctx, fences[i:i+1]); err != nil {
			return nil, err
		}
	}
	return left, nil
}

// hand gives the driver the fences that are left, or waits for them. function names the driver's function that Run then
// calls, which waits for fds.
func (e *Execution) hand(ctx context.Context, left []device.Fence) (function string, fds []int, err error) {
	if len(left) == 0 {
		return e.function, nil, nil
	}
	for _, f := range left {
		fd, _ := f.FD()
		fds = append(fds, fd)
	}
	if function = e.calls.(Fenced).Hand(fds); function != "" {
		return function, fds, nil
	}
	return e.function, nil, exec.Await(ctx, left)
}

// copies reports whether an input is copied before the run.
func (e *Execution) copies() bool {
	for i := range e.inputs() {
		if e.inputs()[i].copied() {
			return true
		}
	}
	return false
}

// pollStep is how long, in milliseconds, a poll takes at most, so that it sees when its purpose has ended.
const pollStep = 100

// pending are descriptors of fences that a driver waits for, duplicated.
type pending []int

// duplicate keeps the fences with these descriptors beyond their run. One that cannot be kept counts as signalled.
func duplicate(fds []int) (p pending) {
	for _, fd := range fds {
		if own, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0); err == nil {
			p = append(p, own)
		}
	}
	return p
}

// wait returns when all fences are signalled, or over is closed. It ends the descriptors.
func (p pending) wait(over <-chan struct{}) {
	for _, fd := range p {
		for ready := false; !ready; {
			n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, pollStep)
			ready = n > 0 || err != nil && err != unix.EINTR
			select {
			case <-over:
				ready = true
			default:
			}
		}
		unix.Close(fd)
	}
}
