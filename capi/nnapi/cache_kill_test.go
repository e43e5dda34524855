package nnapi

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/cache"
)

// The environment of the process that is killed: the directory, and before which step it dies.
const killDir, killStep = "ANYNPU_TEST_KILL_DIR", "ANYNPU_TEST_KILL_STEP"

// TestCache_killedProcess is that process: it writes the new cache and dies on the way. On its own it has nothing to
// do.
func TestCache_killedProcess(t *testing.T) {
	dir := os.Getenv(killDir)
	if dir == "" {
		t.Skip("run by TestCache_killedAtEveryStep")
	}
	left, err := strconv.Atoi(os.Getenv(killStep))
	require.NoError(t, err)
	cache.Hook = func(string, string) error {
		if left--; left < 0 {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		return nil
	}
	compiledFor(t, productOfSums(t, 3), withGuises(t, ""), false, caching(t, dir, 1))
}

// TestCache_killedAtEveryStep kills a process before every step of writing the cache of one model over that of another
// with the same token: what is left is the one or the other, whole, both models compute what they must, and the next
// cache is written.
func TestCache_killedAtEveryStep(t *testing.T) {
	list := withGuises(t, "")
	before, after := sumOfProducts(t, 3), productOfSums(t, 3)
	killed, olds, news := true, 0, 0
	for step := 0; killed; step++ {
		dir := t.TempDir()
		old := compiledFor(t, before, list, false, caching(t, dir, 1))
		require.True(t, hit(t, old))
		cmd := exec.Command(os.Args[0], "-test.run=^TestCache_killedProcess$")
		cmd.Env = append(os.Environ(), killDir+"="+dir, killStep+"="+strconv.Itoa(step))
		out, err := cmd.CombinedOutput()
		killed = cmd.ProcessState.Sys().(syscall.WaitStatus).Signaled()
		if !killed {
			require.NoError(t, err, "step %d: %s", step, out)
		}
		unfinished := newCompilation(after, list, false)
		caching(t, dir, 1)(unfinished)
		if hit(t, unfinished) {
			assert.False(t, hit(t, old), "step %d: the old cache beside the new one", step)
			news++
		} else {
			assert.Zero(t, news, "step %d: the old cache after the new one", step)
			assert.True(t, hit(t, old), "step %d: neither cache is there", step)
			olds++
		}
		c := compiledFor(t, after, list, false, caching(t, dir, 1))
		assert.Equal(t, []float32{5, 14, 27}, results(t, c), "step %d", step)
		assert.True(t, hit(t, c), "step %d: the cache of the next compilation", step)
		computes(t, compiledFor(t, before, list, false, caching(t, dir, 1)))
		assert.True(t, hit(t, old), "step %d: and of the one after", step)
	}
	assert.Greater(t, olds, 6)
	assert.Greater(t, news, 2)
}
