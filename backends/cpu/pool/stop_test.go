package pool

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRun_stopsBetweenChunks: a step of many chunks ends soon after its context does, and the run can be used again.
func TestRun_stopsBetweenChunks(t *testing.T) {
	for _, threads := range []int{1, 2} {
		p := newWaiting(t, threads, 0)
		r := p.NewRun(2, nil)
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		require.NoError(t, r.Begin(ctx))
		for _, do := range []func(int, Task){r.Do, r.Alone} {
			own := 0
			err := cutBy(r, func() {
				do(1000, Func(func(_, worker int) {
					if worker == 0 {
						if own++; own == 10 {
							cancel()
						}
						return
					}
					<-ctx.Done() // else this worker might do all chunks alone
				}))
			})
			assert.ErrorIs(t, err, context.Canceled)
			assert.LessOrEqual(t, own, 10)
		}
		r.End()
		begin(t, r)
		r.Do(10, Func(func(_, _ int) {}))
		r.End()
	}
}

// TestRun_stopsWhileOthersHaveItsThread: a run that made room in the middle of a step need not wait for its turn.
func TestRun_stopsWhileOthersHaveItsThread(t *testing.T) {
	p, clock := newStill(t, 1)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	long, other := p.NewRun(2, nil), p.NewRun(2, nil)
	require.NoError(t, long.Begin(ctx))
	has, end := make(chan bool), make(chan bool)
	err := cutBy(long, func() {
		long.Do(1000, Func(func(i, _ int) {
			if i == 0 {
				go func() {
					_ = other.Begin(context.Background())
					close(has)
					waitQueued(p, 1)
					cancel()
					<-end
					other.End()
					close(end)
				}()
				waitQueued(p, 1)
			}
			clock.Add(int64(turn))
		}))
	})
	assert.ErrorIs(t, err, context.Canceled)
	<-has
	end <- true
	<-end
	long.End()
	begin(t, long)
	long.End()
}

// cutBy is why f was cut short.
func cutBy(r *Run, f func()) (err error) {
	defer func() {
		if err = r.Cut(); err != nil {
			_ = recover()
		}
	}()
	f()
	return nil
}

// TestRun_pausesInUndividedWork: work that is no chunks makes room for another owner, and ends when its context does.
func TestRun_pausesInUndividedWork(t *testing.T) {
	p, clock := newStill(t, 1)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	long, other := p.NewRun(2, nil), p.NewRun(2, nil)
	require.NoError(t, long.Begin(ctx))
	long.Pause()
	came := make(chan bool)
	go func() {
		begin(t, other)
		other.End()
		close(came)
	}()
	waitQueued(p, 1)
	clock.Add(int64(turn))
	long.Pause()
	<-came
	long.Pause()
	cancel()
	assert.ErrorIs(t, cutBy(long, long.Pause), context.Canceled)
	long.End()
}

// TestRun_parksWhereOthersWantTheCPU: a run does not wait awake when giving the CPU away takes long.
func TestRun_parksWhereOthersWantTheCPU(t *testing.T) {
	p, clock := newStill(t, 1)
	p.spins = 4
	looks := 0
	still := p.clock
	first, late := p.NewRun(2, nil), p.NewRun(2, nil)
	begin(t, first)
	p.clock = func() time.Duration {
		if p.spinning > 0 {
			looks++
			clock.Add(int64(spinTime) / 4)
		}
		return still()
	}
	done := make(chan bool)
	go func() {
		begin(t, late)
		late.End()
		close(done)
	}()
	for parked := false; !parked; runtime.Gosched() {
		p.mu.Lock()
		parked = late.parked
		p.mu.Unlock()
	}
	assert.Less(t, looks, 10)
	first.End()
	<-done
}
