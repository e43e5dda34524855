package exec

import (
	"context"
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/devicetest/signal"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/internal/leak"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m, mem.LiveCounters)) }

// untilStopped is work that never ends by itself.
func untilStopped(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// start starts work and returns the channel on which Done reports.
func start(t *testing.T, task *Task, r device.RunRequest, work func(context.Context) error) <-chan error {
	done := make(chan error, 2)
	r.Done = func(err error) { done <- err }
	require.NoError(t, task.Start(r, nil, work))
	return done
}

func TestTask_oneRunAtATime(t *testing.T) {
	var task Task
	done := start(t, &task, device.RunRequest{}, untilStopped)
	assert.Equal(t, fault.State, fault.KindOf(task.Start(device.RunRequest{}, nil, untilStopped)))
	assert.Equal(t, fault.State, fault.KindOf(task.Do(func() error { return nil })))
	task.Cancel()
	err := <-done
	assert.Equal(t, fault.Canceled, fault.KindOf(err))
	assert.ErrorIs(t, err, context.Canceled)
	require.NoError(t, task.Do(func() error { return nil }))
	task.Cancel() // idle: nothing happens
	done = start(t, &task, device.RunRequest{}, func(context.Context) error { return nil })
	require.NoError(t, <-done)
	assert.True(t, task.Close())
	assert.False(t, task.Close())
	assert.Equal(t, fault.State, fault.KindOf(task.Start(device.RunRequest{}, nil, untilStopped)))
	assert.Empty(t, done, "Done is called once")
}

func TestTask_deadline(t *testing.T) {
	var task Task
	defer task.Close()
	err := <-start(t, &task, device.RunRequest{Deadline: time.Now().Add(5 * time.Millisecond)}, untilStopped)
	assert.Equal(t, fault.Timeout, fault.KindOf(err))
	assert.ErrorIs(t, err, context.DeadlineExceeded)

	began := false
	err = <-start(t, &task, device.RunRequest{Deadline: time.Now().Add(-time.Second)},
		func(context.Context) error { began = true; return nil })
	assert.Equal(t, fault.Timeout, fault.KindOf(err))
	assert.False(t, began)

	// Work that looks at Err only, and wraps it as another kind.
	err = <-start(t, &task, device.RunRequest{Deadline: time.Now().Add(5 * time.Millisecond)},
		func(ctx context.Context) error {
			for ctx.Err() == nil {
			}
			return fault.As(fault.Canceled, ctx.Err(), "step 3")
		})
	assert.Equal(t, fault.Timeout, fault.KindOf(err))
	assert.ErrorContains(t, err, "step 3")

	own := errors.New("own failure")
	err = <-start(t, &task, device.RunRequest{Deadline: time.Now().Add(time.Hour)}, func(ctx context.Context) error {
		_ = ctx.Done()
		return own
	})
	assert.Equal(t, own, err)
}

func TestTask_loopLimit(t *testing.T) {
	var task Task
	defer task.Close()
	var seen []time.Duration
	for _, limit := range []time.Duration{time.Hour, 0, 5} {
		require.NoError(t, <-start(t, &task, device.RunRequest{LoopLimit: limit}, func(ctx context.Context) error {
			seen = append(seen, device.LoopLimit(ctx))
			assert.Nil(t, ctx.Value("another key"))
			return nil
		}))
	}
	assert.Equal(t, []time.Duration{time.Hour, 0, 5}, seen)
	assert.Zero(t, device.LoopLimit(context.Background()))
}

func TestTask_fences(t *testing.T) {
	var task Task
	defer task.Close()
	a, b := signal.New(), signal.New()
	var began atomic.Bool
	done := start(t, &task, device.RunRequest{Fences: []device.Fence{a, b}},
		func(context.Context) error { began.Store(true); return nil })
	b.Set(nil)
	assert.False(t, began.Load())
	a.Set(nil)
	require.NoError(t, <-done)
	assert.True(t, began.Load())

	failed, lost := signal.New(), fault.New(fault.Device, "the camera is gone")
	failed.Set(lost)
	began.Store(false)
	done = start(t, &task, device.RunRequest{Fences: []device.Fence{a, failed}},
		func(context.Context) error { began.Store(true); return nil })
	err := <-done
	assert.ErrorIs(t, err, lost)
	assert.ErrorContains(t, err, "fence 1")
	assert.False(t, began.Load())

	done = start(t, &task, device.RunRequest{Fences: []device.Fence{signal.New()}}, untilStopped)
	task.Cancel()
	assert.Equal(t, fault.Canceled, fault.KindOf(<-done))
}

func TestTask_panicIsAnError(t *testing.T) {
	var task Task
	defer task.Close()
	err := <-start(t, &task, device.RunRequest{}, func(context.Context) error { panic("kernel") })
	assert.Equal(t, fault.Internal, fault.KindOf(err))
	assert.ErrorContains(t, err, "panic: kernel at task_test.go:")
}

func TestTask_startAndCloseInsideDone(t *testing.T) {
	var task Task
	finished := make(chan int)
	runs := 0
	var again func(error)
	again = func(error) {
		if runs++; runs == 3 {
			task.Close()
			finished <- runs
			return
		}
		if err := task.Start(device.RunRequest{Done: again}, nil, func(context.Context) error { return nil }); err != nil {
			finished <- -1
		}
	}
	again(nil)
	assert.Equal(t, 3, <-finished)
}

// Parting belongs to the run, its result does not. Done of a caller that does more than wait may take long, and
// start runs: it comes last then.
func TestTask_partsAroundDone(t *testing.T) {
	for _, c := range []struct {
		here, sleeps bool
		want         []string
	}{
		{true, false, []string{"work", "parting", "done", "last"}},
		{true, true, []string{"work", "parting", "done", "last"}},
		{false, false, []string{"work", "parting", "last", "done"}},
	} {
		var task Task
		var order []string
		ended := make(chan struct{}, 2)
		task.Sleeps = func() bool { return c.sleeps }
		task.Parting = func() func() {
			order = append(order, "parting")
			assert.Error(t, task.Do(func() error { return nil }), "a run is under way")
			return func() {
				order = append(order, "last")
				assert.NoError(t, task.Do(func() error { return nil }))
				ended <- struct{}{}
			}
		}
		begin, done := make(chan struct{}), func(error) { order = append(order, "done"); ended <- struct{}{} }
		work := func(context.Context) error {
			<-begin
			order = append(order, "work")
			return nil
		}
		apart := c.sleeps || !c.here
		if !apart {
			close(begin)
		}
		require.NoError(t, task.Start(device.RunRequest{Here: c.here, Done: done}, nil, work))
		if apart {
			assert.Empty(t, ended)
			close(begin)
		}
		<-ended
		<-ended
		assert.Equal(t, c.want, order)
	}
}

func TestTask_closeWaits(t *testing.T) {
	var task Task
	var ended atomic.Bool
	began := make(chan struct{})
	require.NoError(t, task.Start(device.RunRequest{}, nil, func(ctx context.Context) error {
		close(began)
		<-ctx.Done()
		ended.Store(true)
		return ctx.Err()
	}))
	<-began
	task.Close()
	assert.True(t, ended.Load())
}

// A deadline belongs to its run alone, whether or not the work has looked at Done.
func TestTask_runsDoNotShareTheirEnd(t *testing.T) {
	var task Task
	defer task.Close()
	for _, wait := range []bool{true, false, true} {
		early := make(chan (<-chan struct{}), 1)
		require.NoError(t, <-start(t, &task, device.RunRequest{Deadline: time.Now().Add(time.Hour)},
			func(ctx context.Context) error {
				if wait {
					early <- ctx.Done()
				}
				return nil
			}))
		if wait {
			<-<-early // closed with its run
		}
		var seen error
		require.NoError(t, <-start(t, &task, device.RunRequest{}, func(ctx context.Context) error {
			_, limited := ctx.Deadline()
			assert.False(t, limited)
			seen = ctx.Err()
			return nil
		}))
		assert.NoError(t, seen)
		done := start(t, &task, device.RunRequest{}, untilStopped)
		task.Cancel()
		assert.Equal(t, fault.Canceled, fault.KindOf(<-done))
	}
}

func TestTask_startAllocatesNothing(t *testing.T) {
	var task Task
	defer task.Close()
	ended := make(chan error, 1)
	r := device.RunRequest{Done: func(err error) { ended <- err }}
	work := func(ctx context.Context) error { return ctx.Err() }
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		if err := task.Start(r, nil, work); err != nil {
			t.Error(err)
			return
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}))
}

func TestTask_concurrentUse(t *testing.T) {
	var task Task
	var started, done atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				err := task.Start(device.RunRequest{Done: func(error) { done.Add(1) }}, nil,
					func(ctx context.Context) error { return ctx.Err() })
				if err == nil {
					started.Add(1)
				}
				task.Cancel()
			}
		})
	}
	wg.Wait()
	task.Close()
	for done.Load() < started.Load() {
		time.Sleep(0)
	}
	assert.Positive(t, started.Load())
	assert.Equal(t, started.Load(), done.Load())
}

// TestLimitRuns: every run is limited, one with a nearer deadline by that; a run in time is not touched.
func TestLimitRuns(t *testing.T) {
	LimitRuns(5 * time.Millisecond)
	defer LimitRuns(0)
	var task Task
	defer task.Close()
	for _, later := range []time.Time{{}, time.Now().Add(time.Hour)} {
		err := <-start(t, &task, device.RunRequest{Deadline: later}, untilStopped)
		assert.Equal(t, fault.Timeout, fault.KindOf(err))
		assert.ErrorContains(t, err, "longer than 5ms, the limit of every run (ANYNPU_RUN_TIMEOUT)")
	}
	err := <-start(t, &task, device.RunRequest{Deadline: time.Now()}, untilStopped)
	assert.Equal(t, fault.Timeout, fault.KindOf(err))
	assert.NotContains(t, err.Error(), "ANYNPU_RUN_TIMEOUT")
	require.NoError(t, <-start(t, &task, device.RunRequest{}, func(context.Context) error { return nil }))
	err = Within(t.Context(), untilStopped)
	assert.Equal(t, fault.Timeout, fault.KindOf(err))
	assert.ErrorContains(t, err, "ANYNPU_RUN_TIMEOUT")
	LimitRuns(0)
	require.NoError(t, Within(t.Context(), func(ctx context.Context) error { return ctx.Err() }))
}
