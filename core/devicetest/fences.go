package devicetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/devicetest/signal"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
)

// pipe is a fence with a descriptor: the reading end of a pipe, whose writing end closes when the work is done.
type pipe struct {
	read, write *os.File
}

func newPipe() (*pipe, error) {
	r, w, err := os.Pipe()
	return &pipe{read: r, write: w}, err
}

// Wait polls the descriptor, as a device outside this process would.
func (p *pipe) Wait(ctx context.Context) error {
	fd, _ := p.FD()
	for ctx.Err() == nil {
		switch n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 5); {
		case n > 0:
			return nil
		case err != nil && err != unix.EINTR:
			return err
		}
	}
	return ctx.Err()
}

// FD implements device.Fence.
func (p *pipe) FD() (fd int, ok bool) { return int(p.read.Fd()), true }

func (p *pipe) set() error { return p.write.Close() }

// fences holds a run by a fence of this process and by one with a descriptor.
func fences(s *Subject) error {
	return s.with(tensor.Of(2, 3), func(e device.Execution) error {
		want, err := s.bindInputs(e, 1, 2, 3)
		if err != nil {
			return err
		}
		here, there := signal.New(), (*pipe)(nil)
		if there, err = newPipe(); err != nil {
			return err
		}
		defer there.read.Close()
		defer there.write.Close() // a second time, when the check has got that far
		done, err := start(e, device.RunRequest{Fences: []device.Fence{here, there}})
		if err != nil {
			return err
		}
		here.Set(nil)
		select {
		case err := <-done:
			return fmt.Errorf("the run ended with %v before its second fence was signalled", err)
		case <-time.After(20 * time.Millisecond):
		}
		if err := there.set(); err != nil {
			return err
		}
		if err := await(done); err != nil {
			return err
		}
		return wantOutput(e, want)
	})
}

// fencesThatFail ends runs whose fence fails, and cancels one whose fence is never signalled; the next run is none the
// worse.
func fencesThatFail(s *Subject) error {
	return s.with(tensor.Of(2, 3), func(e device.Execution) error {
		want, err := s.bindInputs(e, 1, 2, 3)
		if err != nil {
			return err
		}
		lost := errors.New("the work before the fence has failed")
		fence := signal.New()
		done, err := start(e, device.RunRequest{Fences: []device.Fence{fence}})
		if err != nil {
			return err
		}
		fence.Set(lost)
		if err := await(done); !errors.Is(err, lost) {
			return fmt.Errorf("a fence that fails: want its error, got %v", err)
		}
		if _, err := e.OutputData(0); err == nil {
			return fmt.Errorf("output data after a fence that failed: no error")
		}
		if done, err = start(e, device.RunRequest{Fences: []device.Fence{signal.New()}}); err != nil {
			return err
		}
		e.Cancel()
		if err := wantKind("cancel while a fence is not signalled", await(done), fault.Canceled); err != nil {
			return err
		}
		if err := compute(e); err != nil {
			return err
		}
		return wantOutput(e, want)
	})
}
