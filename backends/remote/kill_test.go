package remote

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/dl"
	"github.com/anynpu/anynpu/backends/remote/link"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/internal/remote/fake"
)

// crowd runs so many jobs, each so often, and returns how many runs failed; kill is called when a quarter of them is
// done.
func crowd(t *testing.T, d device.Device, jobs, runs int, kill func()) (failed int64, errs []error) {
	var done, bad, longest atomic.Int64
	var once sync.Once
	var mu sync.Mutex
	var wait sync.WaitGroup
	for i := range jobs {
		j := prepare(t, d, twice(t, 4), 4)
		wait.Go(func() {
			for k := range runs {
				start := float32(i*runs + k)
				from := time.Now()
				err := j.run(start, device.RunRequest{})
				for took := int64(time.Since(from)); ; {
					if had := longest.Load(); took <= had || longest.CompareAndSwap(had, took) {
						break
					}
				}
				if err != nil {
					bad.Add(1)
					mu.Lock()
					errs = append(errs, err)
					mu.Unlock()
				} else {
					j.right(start)
				}
				if done.Add(1) == int64(jobs*runs/4) {
					once.Do(kill)
				}
			}
		})
	}
	wait.Wait()
	t.Logf("%d of %d runs right, the longest took %v", int64(jobs*runs)-bad.Load(), jobs*runs,
		time.Duration(longest.Load()))
	return bad.Load(), errs
}

// long says that tests take minutes.
var long = os.Getenv("ANYNPU_REMOTE_LONG") != ""

// TestKill ends a server in the middle of runs of many goroutines.
func TestKill(t *testing.T) {
	jobs, runs := 8, 25
	if long {
		jobs, runs = 16, 125
	}
	t.Run("a second address", func(t *testing.T) {
		for _, choice := range []string{dl.ChoiceOrder, dl.ChoiceRoundRobin} {
			first, second := start(t, nil), start(t, nil)
			d, _ := open(t, manifest(func(r *dl.Remote) { r.Choice, r.DeadlineMS = choice, 60000 }, first.GRPC(), second.GRPC()))
			failed, errs := crowd(t, d, jobs, runs, first.Kill)
			assert.Zero(t, failed, "%v", errs)
			assert.Positive(t, second.Infers.Load())
		}
	})
	t.Run("fallback cpu", func(t *testing.T) {
		s := start(t, nil)
		d, told := open(t, manifest(func(r *dl.Remote) { r.Fallback, r.DeadlineMS = dl.FallbackCPU, 60000 }, s.GRPC()))
		failed, errs := crowd(t, d, jobs, runs, s.Kill)
		assert.Zero(t, failed, "%v", errs)
		_, local, err := d.State(context.Background(), false)
		require.NoError(t, err)
		assert.Positive(t, local)
		assert.Contains(t, fmt.Sprint(*told), "computed here instead")
	})
	t.Run("fallback off", func(t *testing.T) {
		s := start(t, nil)
		d, _ := open(t, manifest(func(r *dl.Remote) { r.DeadlineMS = 60000 }, s.GRPC()))
		failed, errs := crowd(t, d, jobs, runs, s.Kill)
		assert.Positive(t, failed)
		for _, err := range errs {
			assert.Equal(t, fault.Device, fault.KindOf(err))
			assert.True(t, errors.Is(err, device.ErrDied), "%v", err)
		}
		// a server at the same address is used again
		j := prepare(t, d, twice(t, 4), 4)
		m, err := fake.OfGraph("twice", twice(t, 0), reference(t))
		require.NoError(t, err)
		again, err := fake.StartAt(s.Address, nil, []*fake.Model{m})
		require.NoError(t, err)
		defer again.Close()
		soon(t, func() bool { return j.run(1, device.RunRequest{}) == nil })
		j.right(1)
		assert.Positive(t, again.Readies.Load(), "it is asked before tensors are sent")
	})
}

// TestFailures_letAnAddressRest: three failed runs in a row, though ModelReady says yes.
func TestFailures_letAnAddressRest(t *testing.T) {
	s := start(t, nil)
	d, _ := open(t, manifest(func(r *dl.Remote) { r.Fallback = dl.FallbackCPU }, s.GRPC()))
	j := prepare(t, d, twice(t, 4), 4)
	s.Fault.Store(int32(fake.Broken))
	for i := range 200 {
		require.NoError(t, j.run(float32(i), device.RunRequest{}))
		j.right(float32(i))
	}
	assert.Less(t, s.Infers.Load(), int64(100))
	list, local, err := d.State(context.Background(), false)
	require.NoError(t, err)
	assert.Equal(t, "resting", list[0].State)
	assert.Equal(t, s.Infers.Load(), list[0].Failures)
	assert.Equal(t, int64(200), local)
	s.Fault.Store(int32(fake.NotReady)) // runs would succeed
	before := s.Infers.Load()
	time.Sleep(firstRest)
	for range 20 {
		require.NoError(t, j.run(0, device.RunRequest{}))
	}
	assert.Equal(t, before, s.Infers.Load(), "a server that is not ready gets no tensors")
}

// firstRest is longer than the first rest of an address.
const firstRest = 150 * time.Millisecond

// TestHelper_dies has the helper program end in the middle: it is started again.
func TestHelper_dies(t *testing.T) {
	s := start(t, nil)
	var last atomic.Pointer[exec.Cmd]
	c := Config{Remote: manifest(func(r *dl.Remote) { r.Fallback = dl.FallbackCPU }, s.GRPC()), Local: reference(t)}
	c.Start = func(socket *os.File) (func(), error) {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), asHelper+"=1")
		cmd.ExtraFiles = []*os.File{socket}
		if err := cmd.Start(); err != nil {
			return nil, err
		}
		last.Store(cmd)
		return func() { _ = cmd.Wait() }, nil
	}
	d, err := New(c)
	require.NoError(t, err)
	defer d.Close()
	j := prepare(t, d, twice(t, 4), 4)
	for i := range 5 {
		require.NoError(t, j.run(float32(i), device.RunRequest{}))
		j.right(float32(i))
		if i == 2 {
			require.NoError(t, last.Load().Process.Kill())
		}
	}
	killed := last.Load()
	soon(t, func() bool {
		require.NoError(t, j.run(7, device.RunRequest{}))
		j.right(7)
		return last.Load() != killed
	})
}

// TestHelper_isNotThere: a model is computed here, or refused.
func TestHelper_isNotThere(t *testing.T) {
	missing := errors.New("it is not beside this library")
	d, err := New(Config{Remote: manifest(nil, "grpc://127.0.0.1:1"),
		Start: func(*os.File) (func(), error) { return nil, missing }})
	require.NoError(t, err)
	answers, err := d.Support(twice(t, 4), device.Options{})
	require.NoError(t, err)
	assert.Equal(t, "the program "+link.HelperName+": it is not beside this library", answers[0].Reason)
}

// TestCycles: nothing is left of devices, programs and runs.
func TestCycles(t *testing.T) {
	s := start(t, nil)
	cycles := 20
	if long {
		cycles = 1000
	}
	for i := range cycles {
		t.Run("", func(t *testing.T) {
			d, _ := open(t, manifest(nil, s.GRPC()))
			for range 3 {
				j := prepare(t, d, twice(t, 4), 4)
				require.NoError(t, j.run(float32(i), device.RunRequest{}))
			}
		})
	}
}
