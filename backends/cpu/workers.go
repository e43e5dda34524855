package cpu

import (
	"context"

	"github.com/anynpu/anynpu/backends/cpu/matmul"
	"github.com/anynpu/anynpu/backends/cpu/pool"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/matrix"
)

// Workers computes what is no graph on the device's threads, with the priority and the limits of executions. One
// goroutine at a time.
type Workers struct {
	device  *Device
	run     *pool.Run
	threads int
}

// Workers returns a share of the device's threads, to be given back with Release.
func (d *Device) Workers(p device.Priority) *Workers {
	d.threads.acquire()
	t := d.threads.get()
	return &Workers{device: d, run: t.NewRun(rank(p), nil), threads: t.Threads()}
}

// Multiplier implements device.MatrixMultiplier. Matrices are multiplied by reference where everything is.
func (d *Device) Multiplier(p device.Priority) device.Multiplier { return d.Workers(p) }

// Multiply computes a product of matrices, on a goroutine of its own if it has to wait long for a thread.
func (w *Workers) Multiply(ctx context.Context, p *matrix.Product) error {
	if w.device.byRef {
		if err := ctx.Err(); err != nil {
			return err
		}
		matmul.Reference(p)
		return nil
	}
	if w.run.Sleeps() { // as in execution.Start
		return apart(func() error { return matmul.Run(ctx, p, w) })
	}
	return matmul.Run(ctx, p, w)
}

// apart calls f on a goroutine of its own. A panic in f is raised here.
func apart(f func() error) (err error) {
	var value any
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer func() { value = recover() }()
		err = f()
	}()
	<-ended
	if value != nil {
		panic(value)
	}
	return err
}

// Threads is the number of threads that compute; the worker numbers that tasks see are below it.
func (w *Workers) Threads() int { return w.threads }

// Do computes chunks 0 to n-1 of t when it is its turn. A panic in a chunk is raised here. It returns the error of ctx
// that ended the wait or the work.
func (w *Workers) Do(ctx context.Context, n int, t pool.Task) (err error) {
	if err := w.run.Begin(ctx); err != nil {
		return err
	}
	defer w.run.End()
	defer func() {
		if stop := w.run.Cut(); stop != nil {
			_ = recover()
			err = stop
		}
	}()
	w.run.Do(n, t)
	return nil
}

// Release gives the share back.
func (w *Workers) Release() {
	w.run.Release()
	w.device.threads.release()
}
