// Package signal is a fence that tests signal by hand. It imports no device, so that tests of core/exec can use it.
package signal

import "context"

// Signal is a fence of this process. The zero Signal cannot be waited for; use New.
type Signal struct {
	done chan struct{}
	err  error
}

// New returns a fence that is not signalled.
func New() *Signal { return &Signal{done: make(chan struct{})} }

// Set signals the fence, once: err is nil when the work has succeeded.
func (s *Signal) Set(err error) {
	s.err = err
	close(s.done)
}

// Wait implements device.Fence.
func (s *Signal) Wait(ctx context.Context) error {
	select {
	case <-s.done:
		return s.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// FD returns false: a Signal has no descriptor.
func (s *Signal) FD() (fd int, ok bool) { return -1, false }
