package pool

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// modes are the two ways in which runs wait.
var modes = []struct {
	name  string
	spins int
}{{"parked", 0}, {"spinning", 4}}

// newWaiting returns a pool whose waiting runs spin or not.
func newWaiting(t *testing.T, threads, spins int) *Pool {
	p := New(threads)
	p.spins = spins
	t.Cleanup(func() {
		// A worker that looks for a region which has just ended is busy for a moment.
		assert.Eventually(t, func() bool { return p.idleThreads() == threads }, 5*time.Second, time.Millisecond)
		assert.Zero(t, p.Waiting())
		p.Close()
	})
	return p
}

// idleThreads is the number of threads that compute nothing.
func (p *Pool) idleThreads() int {
	n := int(p.free.Load())
	for _, w := range p.workers {
		if w.holds.Load() == spare {
			n++
		}
	}
	return n
}

func TestPool_admitsByPriorityThenOrder(t *testing.T) {
	p := newWaiting(t, 1, 0)
	first := p.NewRun(0, nil)
	begin(t, first)
	var mu sync.Mutex
	var order []string
	var wg sync.WaitGroup
	for i, c := range []struct {
		name string
		prio int
	}{{"low", -1}, {"mid a", 3}, {"mid b", 3}, {"high", 9}} {
		wg.Go(func() {
			r := p.NewRun(c.prio, nil)
			begin(t, r)
			mu.Lock()
			order = append(order, c.name)
			mu.Unlock()
			r.End()
		})
		waitQueued(p, i+1)
	}
	first.End()
	wg.Wait()
	assert.Equal(t, []string{"high", "mid a", "mid b", "low"}, order)
}

func TestPool_spinningRunsGoByPriority(t *testing.T) {
	p := newWaiting(t, 1, 4)
	first := p.NewRun(0, nil)
	begin(t, first)
	var order []int
	var wg sync.WaitGroup
	for i, priority := range []int{-1, 3, 9} {
		wg.Go(func() {
			r := p.NewRun(priority, nil)
			begin(t, r)
			order = append(order, priority) // one at a time: the pool has one thread
			r.End()
		})
		waitQueued(p, i+1)
	}
	first.End()
	wg.Wait()
	assert.Equal(t, []int{9, 3, -1}, order)
}

func TestRun_yieldsToHigherPriority(t *testing.T) {
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			p := newWaiting(t, 1, m.spins)
			low := p.NewRun(0, nil)
			begin(t, low)
			yieldTo(t, low)
			var ran atomic.Bool
			var wg sync.WaitGroup
			wg.Go(func() {
				r := p.NewRun(5, nil)
				begin(t, r)
				ran.Store(true)
				r.End()
			})
			waitQueued(p, 1)
			assert.False(t, ran.Load())
			yieldTo(t, low)
			assert.True(t, ran.Load())
			low.End()
			wg.Wait()
		})
	}
}

func TestRun_stopsWaitingWithItsContext(t *testing.T) {
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			p := newWaiting(t, 1, m.spins)
			first := p.NewRun(0, nil)
			begin(t, first)
			ctx, cancel := context.WithCancel(context.Background())
			done := make(chan error, 1)
			late := p.NewRun(1, nil)
			go func() { done <- late.Begin(ctx) }()
			waitQueued(p, 1)
			cancel()
			require.ErrorIs(t, <-done, context.Canceled)
			late.End() // has no thread: nothing happens
			require.ErrorIs(t, late.Begin(ctx), context.Canceled)
			require.ErrorIs(t, first.Yield(ctx), context.Canceled)
			first.End()
			require.NoError(t, first.Next(context.Background()))
			first.End()
		})
	}
}

// TestPool_manyRuns lets runs of all kinds come, be stopped and go, and then counts threads and computed chunks.
func TestPool_manyRuns(t *testing.T) {
	for _, m := range modes {
		for _, threads := range []int{1, 2, 3} {
			t.Run(m.name, func(t *testing.T) {
				p := newWaiting(t, threads, m.spins)
				var now, most, ended, chunks atomic.Int32
				var wg sync.WaitGroup
				for g := range 8 {
					wg.Go(func() {
						r := p.NewRun(g%3, nil)
						for k := range 60 {
							ctx, cancel := context.WithCancel(context.Background())
							if k%5 == g%5 {
								go cancel()
							}
							err := r.Begin(ctx)
							for range 4 {
								if err != nil {
									break
								}
								var did atomic.Int32
								cut := cutBy(r, func() {
									r.Do(5, Func(func(_, _ int) {
										n := now.Add(1)
										for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
										}
										did.Add(1)
										now.Add(-1)
									}))
								})
								if cut == nil {
									chunks.Add(did.Load())
									ended.Add(1)
								}
								runtime.Gosched()
								err = r.Next(ctx)
							}
							r.End()
							cancel()
						}
					})
				}
				wg.Wait()
				assert.LessOrEqual(t, int(most.Load()), threads)
				assert.Equal(t, 5*ended.Load(), chunks.Load())
			})
		}
	}
}

// TestPool_takesThreadsOfIdleWorkers: a worker that only waits for work does not hold up a run.
func TestPool_takesThreadsOfIdleWorkers(t *testing.T) {
	p := New(2)
	if len(p.workers) == 0 {
		p.Close()
		t.Skip("one CPU: no workers")
	}
	w := p.workers[0]
	p.mu.Lock()
	p.parked = nil // the worker's goroutine stays asleep: it cannot give the thread back
	p.free.Add(-1)
	w.holds.Store(spare)
	p.mu.Unlock()
	a, b := p.NewRun(0, nil), p.NewRun(0, nil)
	begin(t, a)
	begin(t, b)
	assert.Equal(t, nothing, w.holds.Load())
	assert.False(t, w.once(), "computes without a thread")
	a.End()
	b.End()
	assert.EqualValues(t, 2, p.free.Load())
	p.parked = []*worker{w}
	p.Close()
}

// TestWorker_helpsARegionOnce: a helper does not come back to a region whose last chunk is under way.
func TestWorker_helpsARegionOnce(t *testing.T) {
	p := New(2)
	defer p.Close()
	r := p.NewRun(0, nil)
	begin(t, r)
	defer r.End()
	w := &worker{pool: p, id: 1}
	w.holds.Store(spare)
	assert.False(t, w.once(), "no region is open")
	r.task, r.n, r.of = Func(func(_, _ int) {}), 2, 1
	r.state.Add(open + count)
	assert.True(t, w.once())
	assert.EqualValues(t, 2, r.shares[0].taken.Load())
	assert.False(t, w.once())
	r.closeRegion()
	assert.False(t, w.once())
	r.shares[0].taken.Store(0)
	r.state.Add(open + count)
	assert.True(t, w.once(), "another region")
	r.closeRegion()
}

// TestRun_threadsKeepTheirShares: without others that are faster, a thread computes the same chunks each time, in
// order.
func TestRun_threadsKeepTheirShares(t *testing.T) {
	if allowedCPUs() < 2 {
		t.Skip("one CPU: no helpers")
	}
	p := New(2)
	defer p.Close()
	r := p.NewRun(0, nil)
	begin(t, r)
	defer r.End()
	for range 50 {
		var step [2]atomic.Int32
		var chunks [2][]int
		r.Do(6, Func(func(i, worker int) {
			chunks[worker] = append(chunks[worker], i)
			step[worker].Add(1)
			for step[1-worker].Load() < step[worker].Load() { // chunk by chunk together
				runtime.Gosched()
			}
		}))
		assert.Equal(t, [2][]int{{0, 1, 2}, {3, 4, 5}}, chunks)
	}
}
