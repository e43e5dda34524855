package parallel

import (
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDo_callsEachOnce(t *testing.T) {
	for _, goroutines := range []int{-1, 0, 1, 2, 7, 300} {
		for _, n := range []int{0, 1, 2, 6, 200} {
			calls := make([]atomic.Int32, n)
			Do(goroutines, n, func(i int) { calls[i].Add(1) })
			for i := range calls {
				require.EqualValues(t, 1, calls[i].Load(), "%d of %d on %d", i, n, goroutines)
			}
		}
	}
}

func TestDo_usesTheGoroutinesItMay(t *testing.T) {
	const n = 4
	var there atomic.Int32
	all := make(chan struct{})
	Do(n, n, func(int) { // returns only when all are under way
		if there.Add(1) == n {
			close(all)
		}
		<-all
	})
	assert.EqualValues(t, n, there.Load())
}

// A panic reaches the caller as it is, after the calls that are under way.
func TestDo_raisesPanicsAgain(t *testing.T) {
	for _, goroutines := range []int{1, 3} {
		want := errors.New("broken")
		var running atomic.Int32
		func() {
			defer func() { assert.Same(t, want, recover()) }()
			Do(goroutines, 100, func(i int) {
				running.Add(1)
				defer running.Add(-1)
				if i == 5 {
					panic(want)
				}
			})
		}()
		assert.Zero(t, running.Load(), "calls that go on")
	}
}

// A file that becomes shorter while goroutines read its mapping is a panic of the caller's, not the end of the process.
func TestDo_memoryThatVanishes(t *testing.T) {
	name, size := filepath.Join(t.TempDir(), "weights"), 4*os.Getpagesize()
	require.NoError(t, os.WriteFile(name, make([]byte, size), 0o600))
	f, err := os.Open(name)
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	data, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
	require.NoError(t, err)
	defer func() { _ = syscall.Munmap(data) }()
	require.NoError(t, os.Truncate(name, 0))
	for _, goroutines := range []int{1, 3} {
		var sum atomic.Int64
		assert.Panics(t, func() {
			Do(goroutines, 12, func(i int) { sum.Add(int64(data[i%4*os.Getpagesize()])) })
		}, "on %d", goroutines)
	}
}
