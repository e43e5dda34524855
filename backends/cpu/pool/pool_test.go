package pool

import (
	"context"
	"math"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func begin(t testing.TB, r *Run) { assert.NoError(t, r.Begin(context.Background())) }

func yieldTo(t testing.TB, r *Run) { assert.NoError(t, r.Yield(context.Background())) }

func TestRun_everyChunkOnce(t *testing.T) {
	for _, threads := range []int{1, 2, 3, 8} {
		p := New(threads)
		assert.Equal(t, min(threads, allowedCPUs()), p.Width())
		r := p.NewRun(0, nil)
		begin(t, r)
		for n := range 200 {
			counts := make([]atomic.Int32, n)
			inside := make([]atomic.Int32, threads)
			r.Do(n, Func(func(i, worker int) {
				assert.Equal(t, int32(1), inside[worker].Add(1), "worker index shared")
				counts[i].Add(1)
				inside[worker].Add(-1)
			}))
			for i := range counts {
				require.Equal(t, int32(1), counts[i].Load(), "threads %d, chunk %d of %d", threads, i, n)
			}
		}
		r.End()
		p.Close()
	}
}

// TestRun_helpersTakePart needs a helper: two chunks that wait for each other.
func TestRun_helpersTakePart(t *testing.T) {
	if allowedCPUs() < 2 {
		t.Skip("one CPU: no helpers")
	}
	p := New(2)
	defer p.Close()
	r := p.NewRun(0, nil)
	begin(t, r)
	defer r.End()
	for range 100 {
		var arrived atomic.Int32
		r.Do(2, Func(func(_, _ int) {
			arrived.Add(1)
			for arrived.Load() < 2 {
				runtime.Gosched()
			}
		}))
	}
}

// TestRun_wakesAWorkerThatParks opens regions about when the worker parks: it must not sleep through one.
func TestRun_wakesAWorkerThatParks(t *testing.T) {
	if allowedCPUs() < 2 {
		t.Skip("one CPU: no helpers")
	}
	p := New(2)
	defer p.Close()
	r := p.NewRun(0, nil)
	begin(t, r)
	defer r.End()
	for i, begun := 0, time.Now(); i < 1500 && time.Since(begun) < 5*time.Second; i++ {
		pause := idleLimit + time.Duration(i%64)*time.Microsecond
		for start := time.Now(); time.Since(start) < pause; {
			relax(0, p)
		}
		limit := time.Now().Add(time.Minute) // for a hang alone
		var arrived atomic.Int32
		var late atomic.Bool
		r.Do(2, Func(func(_, _ int) {
			arrived.Add(1)
			for arrived.Load() < 2 && !late.Load() {
				runtime.Gosched()
				late.Store(time.Now().After(limit))
			}
		}))
		require.False(t, late.Load(), "the worker slept through region %d", i)
	}
}

// TestWorker_parksAfterLongYields has a worker without work on a machine whose other programs get all the CPU at each
// yield: one yield is longer than it may look for work.
func TestWorker_parksAfterLongYields(t *testing.T) {
	for _, cpus := range []int{1, 2} {
		p := New(1)
		yields := 0
		p.threads, p.cpus, p.yield = 2, cpus, func() {
			yields++
			time.Sleep(2 * idleLimit)
		}
		w := &worker{pool: p, id: 1, wake: make(chan bool, 1)}
		w.holds.Store(spare)
		w.serve()
		assert.LessOrEqual(t, yields, 2, "with %d CPUs", cpus)
		assert.Equal(t, nothing, w.holds.Load())
	}
}

func TestRun_resultsVisibleWithoutAtomics(t *testing.T) {
	p := New(4)
	defer p.Close()
	r := p.NewRun(0, nil)
	begin(t, r)
	defer r.End()
	data := make([]int, 64)
	for round := range 2000 {
		r.Do(len(data), Func(func(i, _ int) { data[i] += round }))
	}
	for _, v := range data {
		require.Equal(t, 2000*1999/2, v)
	}
}

func TestPool_computesOnAtMostThreads(t *testing.T) {
	for _, threads := range []int{1, 2, 3} {
		p := New(threads)
		var now, most atomic.Int32
		var wg sync.WaitGroup
		for range 6 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				r := p.NewRun(0, nil)
				for range 20 {
					begin(t, r)
					for range 10 {
						r.Do(7, Func(func(_, _ int) {
							n := now.Add(1)
							for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
							}
							now.Add(-1)
						}))
						yieldTo(t, r)
					}
					r.End()
				}
			}()
		}
		wg.Wait()
		assert.LessOrEqual(t, int(most.Load()), threads)
		p.Close()
	}
}

// waitQueued returns when n runs wait.
func waitQueued(p *Pool, n int) {
	for p.Waiting() != n {
		runtime.Gosched()
	}
}

func TestRun_panicOfAnyThreadReachesCaller(t *testing.T) {
	p := New(2)
	defer p.Close()
	r := p.NewRun(0, nil)
	begin(t, r)
	defer r.End()
	for _, bad := range []int{0, 1, 5, 99} {
		assert.PanicsWithValue(t, bad, func() {
			r.Do(100, Func(func(i, _ int) {
				if i == bad {
					panic(bad)
				}
			}))
		})
	}
	var n atomic.Int32
	r.Do(50, Func(func(_, _ int) { n.Add(1) }))
	assert.EqualValues(t, 50, n.Load())
}

// TestRun_memoryThatVanishes: a file that was cut ends the run, whichever thread touches it, and not the process.
func TestRun_memoryThatVanishes(t *testing.T) {
	fd, err := unix.MemfdCreate("cut", unix.MFD_CLOEXEC)
	require.NoError(t, err)
	defer unix.Close(fd)
	require.NoError(t, unix.Ftruncate(fd, 4096))
	data, err := unix.Mmap(fd, 0, 4096, unix.PROT_READ, unix.MAP_SHARED)
	require.NoError(t, err)
	defer unix.Munmap(data)
	require.NoError(t, unix.Ftruncate(fd, 0))
	p := New(2)
	defer p.Close()
	r := p.NewRun(0, nil)
	begin(t, r)
	defer r.End()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	helped := false
	for range 100 {
		var inside atomic.Int32
		var sum atomic.Int32
		assert.Panics(t, func() {
			r.Do(2, Func(func(_, _ int) {
				inside.Add(1)
				for deadline := time.Now().Add(50 * time.Millisecond); inside.Load() < 2 && time.Now().Before(deadline); {
					runtime.Gosched()
				}
				sum.Add(int32(data[7]))
			}))
		})
		helped = helped || inside.Load() == 2
		if helped {
			break
		}
	}
	assert.True(t, helped, "no helper has taken part")
	assert.NotPanics(t, func() { r.Do(2, Func(func(_, _ int) {})) })
}

func TestRun_panicsOfAllThreadsAreForgotten(t *testing.T) {
	p := New(2)
	defer p.Close()
	r := p.NewRun(0, nil)
	begin(t, r)
	defer r.End()
	for range 20 {
		var inside atomic.Int32
		assert.Panics(t, func() {
			r.Do(2, Func(func(_, _ int) {
				inside.Add(1)
				for deadline := time.Now().Add(50 * time.Millisecond); inside.Load() < 2 && time.Now().Before(deadline); {
					runtime.Gosched()
				}
				panic("all")
			}))
		})
		assert.NotPanics(t, func() { r.Do(2, Func(func(_, _ int) {})) })
	}
}

func TestRun_allocatesNothing(t *testing.T) {
	p := New(2)
	defer p.Close()
	r := p.NewRun(0, nil)
	var task Task = Func(func(_, _ int) {})
	assert.Zero(t, testing.AllocsPerRun(200, func() {
		begin(t, r)
		for range 10 {
			r.Do(8, task)
			yieldTo(t, r)
		}
		r.End()
	}))
}

func TestClose_withActiveRunPanics(t *testing.T) {
	p := New(2)
	r := p.NewRun(0, nil)
	begin(t, r)
	assert.Panics(t, p.Close)
	r.End()
	p.Close()
}

func TestPool_workersParkWhenIdle(t *testing.T) {
	p := New(2)
	defer p.Close()
	r := p.NewRun(0, nil)
	begin(t, r)
	r.Do(8, Func(func(_, _ int) {}))
	r.End()
	for deadline := time.Now().Add(time.Minute); ; {
		p.mu.Lock()
		parked := len(p.parked)
		p.mu.Unlock()
		if parked == min(2, p.cpus)-1 {
			break
		}
		require.True(t, time.Now().Before(deadline), "worker still busy")
		runtime.Gosched()
	}
}

func TestQuota_smallestOfAllGroups(t *testing.T) {
	for _, c := range []struct {
		name, groups string
		files        map[string]string
		want         float64
	}{
		{"none", "0::/\n", nil, math.Inf(1)},
		{"v2 max", "0::/a\n", map[string]string{"/a/cpu.max": "max 100000\n"}, math.Inf(1)},
		{"v2 own", "0::/a\n", map[string]string{"/a/cpu.max": "150000 100000\n"}, 1.5},
		{"v2 parent", "0::/a/b\n", map[string]string{"/a/b/cpu.max": "800000 100000\n", "/a/cpu.max": "250000 100000\n"},
			2.5},
		{"v2 root in container", "0::/\n", map[string]string{"/cpu.max": "300000 100000\n"}, 3},
		{"v1", "4:memory:/x\n3:cpu,cpuacct:/x\n", map[string]string{"cpu,cpuacct/x/cpu.cfs_quota_us": "50000\n",
			"cpu,cpuacct/x/cpu.cfs_period_us": "100000\n"}, 0.5},
		{"v1 unlimited", "3:cpu:/x\n", map[string]string{"cpu/x/cpu.cfs_quota_us": "-1\n",
			"cpu/x/cpu.cfs_period_us": "100000\n"}, math.Inf(1)},
		{"nonsense", "x\n0::\n", map[string]string{"/cpu.max": "a b c"}, math.Inf(1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, quota(c.groups, func(f string) string { return c.files[f] }))
		})
	}
	assert.GreaterOrEqual(t, DefaultThreads(), 1)
}

// TestPool_oneCPU runs the chunk tests in a process bound to a single CPU.
func TestPool_oneCPU(t *testing.T) {
	taskset, err := exec.LookPath("taskset")
	if err != nil {
		t.Skip("taskset is not installed")
	}
	cmd := exec.Command(taskset, "-c", "0", os.Args[0], "-test.run",
		"TestRun_everyChunkOnce|TestPool_computes|TestRun_panic")
	out, err := cmd.CombinedOutput()
	if err != nil && len(out) > 0 && !assert.NotContains(t, string(out), "failed to set pid") {
		t.Skip("CPU 0 is not allowed here")
	}
	require.NoError(t, err, "%s", out)
}

func BenchmarkRun_region(b *testing.B) {
	p := New(2)
	defer p.Close()
	r := p.NewRun(0, nil)
	begin(b, r)
	defer r.End()
	var task Task = Func(func(_, _ int) {})
	best := time.Duration(math.MaxInt64)
	for b.Loop() {
		t := time.Now()
		for range 100 {
			r.Do(2, task)
		}
		best = min(best, time.Since(t)/100)
	}
	b.ReportMetric(float64(best.Nanoseconds()), "ns-min/region")
}
