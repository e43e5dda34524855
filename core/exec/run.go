package exec

import (
	"context"

	"github.com/anynpu/anynpu/core/device"
)

// Run starts one run of e and waits for its end; r.Done, if set, is called before it returns. When ctx is done the run
// is cancelled and ends as Cancel says.
func Run(ctx context.Context, e device.Execution, r device.RunRequest) error {
	ended := make(chan error, 1)
	r.Here = ctx.Done() == nil
	done := r.Done
	r.Done = func(err error) {
		if done != nil {
			done(err)
		}
		ended <- err
	}
	if err := e.Start(r); err != nil {
		return err
	}
	if ctx.Done() == nil {
		return <-ended
	}
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		e.Cancel()
		return <-ended
	}
}
