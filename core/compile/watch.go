package compile

import (
	"time"

	"github.com/anynpu/anynpu/core/device"
)

// Watch, unless nil, is asked by every execution of a program for a function that is called after each of its runs: the
// time from start to completion, and the error. Set before the first execution is made; one that it gives nil for is
// not watched.
var Watch func(p *Program) func(took time.Duration, err error)

// watched is an execution whose runs are reported.
type watched struct {
	device.Execution
	ran func(took time.Duration, err error)
}

// Start implements device.Execution.
func (w watched) Start(r device.RunRequest) error {
	begin, done := time.Now(), r.Done
	r.Done = func(err error) {
		w.ran(time.Since(begin), err)
		if done != nil {
			done(err)
		}
	}
	return w.Execution.Start(r)
}
