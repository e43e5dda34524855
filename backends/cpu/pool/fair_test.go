package pool

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// newStill is a pool of parked runs whose clock stands still until a test moves it.
func newStill(t *testing.T, threads int) (*Pool, *atomic.Int64) {
	p, clock := newWaiting(t, threads, 0), new(atomic.Int64)
	p.clock = func() time.Duration { return time.Duration(clock.Load()) }
	return p, clock
}

// contender is a goroutine that computes again and again.
type contender struct {
	name  string
	level int
	owner any
	takes time.Duration // each run
}

// contend lets contenders compute on one thread, each waiting again before the thread is free, and returns whose the
// first turns were.
func contend(t *testing.T, turns int, list ...contender) (order []string) {
	p, clock := newStill(t, 1)
	first := p.NewRun(Levels-1, nil)
	begin(t, first)
	var wg sync.WaitGroup
	for i, c := range list {
		wg.Go(func() {
			r := p.NewRun(c.level, c.owner)
			defer r.Release()
			for {
				begin(t, r)
				if len(order) == turns {
					r.End()
					return
				}
				order = append(order, c.name) // one at a time
				waitQueued(p, len(list)-1)
				clock.Add(int64(c.takes))
				r.End()
			}
		})
		waitQueued(p, i+1)
	}
	first.End()
	wg.Wait()
	return order
}

func many(n int, c contender) []contender { return slices.Repeat([]contender{c}, n) }

func times(order []string, name string) (n int) {
	for _, o := range order {
		if o == name {
			n++
		}
	}
	return n
}

// TestPool_ownersTakeTurns: one owner's 16 goroutines get as many turns as another's one.
func TestPool_ownersTakeTurns(t *testing.T) {
	crowd := contender{"crowd", 2, new(int), 3 * time.Millisecond}
	single := contender{"single", 2, new(int), 3 * time.Millisecond}
	order := contend(t, 60, append(many(16, crowd), single)...)
	assert.InDelta(t, 30, times(order, "single"), 2, "%v", order)
	for i := 4; i < len(order); i += 2 {
		assert.NotEqual(t, order[i], order[i+1], "turns %d and %d", i, i+1)
	}
}

// TestPool_shortRunsGetTheirTime: an owner of short runs gets as much time as others of long ones, not as many turns.
func TestPool_shortRunsGetTheirTime(t *testing.T) {
	long := contender{"long", 2, new(int), 10 * time.Millisecond}
	short := contender{"short", 2, new(int), time.Millisecond}
	order := contend(t, 110, append(many(4, long), many(4, short)...)...)
	assert.InDelta(t, 100, times(order, "short"), 4, "%v", order)
}

// TestPool_boundsDebt: an owner that was slow for a moment does not wait until the others have been as slow.
func TestPool_boundsDebt(t *testing.T) {
	slow := contender{"slow", 2, new(int), 100 * time.Millisecond}
	short := contender{"short", 2, new(int), time.Millisecond}
	order := contend(t, 90, append(many(2, slow), many(2, short)...)...)
	assert.InDelta(t, 10, times(order, "slow"), 1, "%v", order) // 8 ms behind: as long as its runs count, and 4 ms
}

// TestPool_lowIsNotStarved: beside runs of the highest level without end one of each level below gets its turn, later
// the lower it is: after as many times Ageing as there are levels between.
func TestPool_lowIsNotStarved(t *testing.T) {
	const takes = 2 * time.Millisecond
	list := many(4, contender{"3", 3, new(int), takes})
	list = append(list, contender{"2", 2, new(int), takes}, contender{"1", 1, new(int), takes},
		contender{"0", 0, new(int), takes})
	order := contend(t, 200, list...)
	for i, name := range []string{"2", "1", "0"} {
		first := slices.Index(order, name)
		want := (i + 1) * int(Ageing/takes)
		assert.GreaterOrEqual(t, first, want, name)
		assert.LessOrEqual(t, first, want+3, name)
		assert.InDelta(t, 200/(want+2), times(order, name), 2, name)
	}
}

// TestPool_orderInsideALevel: those who have used less go first, then those whose turn was before, then who came first.
func TestPool_orderInsideALevel(t *testing.T) {
	a, b, c := new(int), new(int), new(int)
	order := contend(t, 9, contender{"a1", 2, a, time.Millisecond}, contender{"a2", 2, a, time.Millisecond},
		contender{"b", 2, b, time.Millisecond}, contender{"c", 2, c, time.Millisecond})
	assert.Equal(t, []string{"a1", "b", "c", "a2", "b", "c", "a1", "b", "c"}, order)
}

// TestRun_yieldsToOwnerThatIsBehind: between steps a run makes room for an owner that has used less by a grain, for one
// of its own owner after a grain, and for a lower level not at all.
func TestRun_yieldsToOwnerThatIsBehind(t *testing.T) {
	mine := new(int)
	for _, c := range []struct {
		name  string
		level int
		owner any
		after time.Duration // what passes until the run yields, 0: it does not
	}{
		{"another owner", 2, new(int), grain},
		{"own", 2, mine, grain},
		{"lower", 1, new(int), 0},
		{"higher", 3, new(int), -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, clock := newStill(t, 1)
			r := p.NewRun(2, mine)
			begin(t, r)
			var ran atomic.Bool
			var wg sync.WaitGroup
			wg.Go(func() {
				other := p.NewRun(c.level, c.owner)
				begin(t, other)
				ran.Store(true)
				other.End()
			})
			waitQueued(p, 1)
			if c.after >= 0 {
				yieldTo(t, r)
				assert.False(t, ran.Load(), "at once")
				clock.Add(int64(c.after + 1))
			}
			yieldTo(t, r)
			assert.Equal(t, c.after != 0, ran.Load())
			clock.Add(int64(Ageing))
			yieldTo(t, r)
			assert.Equal(t, true, ran.Load(), "lower, after ageing")
			r.End()
			wg.Wait()
		})
	}
}

// TestRun_shortRunWaitsForChunks: a run that comes in the middle of a step of another owner begins before the step has
// ended, and the step goes on behind it.
func TestRun_shortRunWaitsForChunks(t *testing.T) {
	for _, threads := range []int{1, 2} {
		p, clock := newStill(t, threads)
		long, blocker := p.NewRun(2, nil), p.NewRun(2, nil)
		begin(t, long)
		if threads == 2 {
			begin(t, blocker) // the other thread is not free
		}
		var wg sync.WaitGroup
		at, chunks := -1, 0
		long.Do(100, Func(func(i, _ int) {
			if chunks++; chunks == 10 {
				wg.Go(func() {
					short := p.NewRun(2, nil)
					begin(t, short)
					at = chunks
					short.End()
				})
				waitQueued(p, 1)
			}
			clock.Add(int64(100 * time.Microsecond))
		}))
		long.End()
		wg.Wait()
		if threads == 2 {
			blocker.End()
		}
		assert.Equal(t, 100, chunks)
		assert.LessOrEqual(t, at, 10+int(grain/(100*time.Microsecond))+1)
		assert.GreaterOrEqual(t, at, 10)
	}
}

// TestPool_forgetsOwners: accounts are kept as long as runs are.
func TestPool_forgetsOwners(t *testing.T) {
	p := newWaiting(t, 1, 0)
	o := new(int)
	a, b := p.NewRun(2, o), p.NewRun(2, o)
	assert.Same(t, a.owner, b.owner)
	assert.NotSame(t, a.owner, p.NewRun(1, o).owner)
	a.Release()
	assert.Len(t, p.owners, 2)
	b.Release()
	assert.Len(t, p.owners, 1)
}

// A run that is let in while it sleeps is charged from when it wakes, not from when it got the thread.
func TestPool_chargesFromWaking(t *testing.T) {
	p, clock := newStill(t, 1)
	first, sleeper, last := p.NewRun(1, nil), p.NewRun(1, nil), p.NewRun(1, nil)
	begin(t, first)
	p.mu.Lock()
	p.enqueue(sleeper)
	p.enqueue(last)
	p.mu.Unlock()
	first.End()
	require.True(t, sleeper.admitted)

	clock.Add(int64(5 * turn))
	require.NoError(t, sleeper.wait(t.Context(), true))
	clock.Add(int64(turn))
	sleeper.End()
	assert.Equal(t, turn, sleeper.owner.used)

	require.NoError(t, last.wait(t.Context(), true))
	last.End()
}

// A run that has aged keeps the level that it gained for the 3 ms of docs/process.md. Then it makes room for the higher
// level.
func TestRun_keepsItsGainedLevel(t *testing.T) {
	const documented = 3 * time.Millisecond
	p, clock := newStill(t, 1)
	high, low, next := p.NewRun(2, nil), p.NewRun(1, nil), p.NewRun(2, nil)
	begin(t, high)
	p.mu.Lock()
	p.enqueue(low)
	p.mu.Unlock()
	clock.Add(int64(Ageing))
	high.End()
	require.True(t, low.admitted)
	require.NoError(t, low.wait(t.Context(), true))

	p.mu.Lock()
	p.enqueue(next)
	p.mu.Unlock()
	for _, c := range []struct {
		after time.Duration
		yield bool
	}{{0, false}, {documented - 1, false}, {1, true}} {
		clock.Add(int64(c.after))
		low.owner.used = next.owner.used - documented // its use is no reason to yield
		p.mu.Lock()
		assert.Equal(t, c.yield, low.mustYield(), c.after)
		p.mu.Unlock()
	}
	low.End()
	require.NoError(t, next.wait(t.Context(), true))
	next.End()
}

// A run makes room for an owner of long runs when it has used as much more as those take, 4 ms at most: they wait no
// longer than they compute, and are interrupted less often.
func TestRun_makesRoomByTheLengthOfRuns(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct{ takes, room time.Duration }{{0, ms / 2}, {ms / 10, ms / 2}, {3 * ms, 3 * ms},
		{ms * 1000, 4 * ms}} {
		for _, own := range []bool{false, true} {
			p, clock := newStill(t, 1)
			me, other := new(int), new(int)
			if own {
				other = me
			}
			r, long, last := p.NewRun(2, me), p.NewRun(2, other), p.NewRun(2, nil)
			for range 2 { // a run that others wait for, from its begin to its end
				begin(t, long)
				p.mu.Lock()
				p.enqueue(last)
				p.mu.Unlock()
				clock.Add(int64(c.takes))
				long.End()
				require.NoError(t, last.wait(t.Context(), true))
				last.End()
			}
			begin(t, r)
			r.owner.used, long.owner.used = 0, 0
			p.mu.Lock()
			p.enqueue(long)
			r.owner.used, long.owner.used = 0, 0
			p.mu.Unlock()
			for _, step := range []struct {
				after time.Duration
				yield bool
			}{{c.room, false}, {1, true}} {
				clock.Add(int64(step.after))
				p.mu.Lock()
				assert.Equal(t, step.yield, r.mustYield(), "%v, own %v", c, own)
				p.mu.Unlock()
			}
			r.End()
			require.NoError(t, long.wait(t.Context(), true))
			long.End()
		}
	}
}

// The time of an owner's runs is learnt from the longest of late: a run that was charged in part hides no long ones.
func TestOwner_learnsWhatRunsTake(t *testing.T) {
	p, _ := newStill(t, 1)
	r := p.NewRun(2, nil)
	for _, c := range []struct{ took, takes time.Duration }{{0, 0}, {8, 8}, {1, 4}, {1, 2}, {0, 2}, {1, 1}, {5, 5}} {
		r.took = c.took
		r.learn()
		assert.Equal(t, c.takes, time.Duration(r.owner.usual.Load()), c.took)
	}
}

// Part hands the thread over without waking who gets it: the returned function does.
func TestRun_partsBeforeItWakesTheNext(t *testing.T) {
	p, _ := newStill(t, 1)
	first, next := p.NewRun(2, nil), p.NewRun(2, nil)
	begin(t, first)
	p.mu.Lock()
	p.enqueue(next)
	p.mu.Unlock()
	wake := first.Part()
	require.True(t, next.admitted)
	require.Empty(t, next.ready)
	wake()
	require.NoError(t, next.wait(t.Context(), true))
	assert.Nil(t, next.Part(), "nobody waits")
	assert.Nil(t, next.Part(), "it has no thread")
}

// A run sleeps if it has to wait and its like take longer than waking it.
func TestRun_sleeps(t *testing.T) {
	p, _ := newStill(t, 2)
	r, short, a, b := p.NewRun(2, nil), p.NewRun(2, nil), p.NewRun(2, nil), p.NewRun(2, nil)
	r.owner.usual.Store(int64(time.Millisecond))
	assert.False(t, r.Sleeps(), "both threads are free")
	begin(t, a)
	assert.False(t, r.Sleeps(), "one is free")
	begin(t, b)
	assert.True(t, r.Sleeps(), "none is free")
	assert.False(t, short.Sleeps())
	p.mu.Lock()
	p.enqueue(short)
	p.mu.Unlock()
	a.End()
	require.NoError(t, short.wait(t.Context(), true))
	short.End()
	assert.False(t, r.Sleeps())
	b.End()
}
