package ohnn

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

// TestCache_killedProcess is that process: it builds version 2 of the cache and dies on the way. On its own it has
// nothing to do.
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
	code, got := cached(t, 20, dir, 2)
	assert.Equal(t, Success, code)
	assert.Equal(t, float32(21), got)
}

// TestCache_killedAtEveryStep kills a process before every step of writing version 2 (x + 20) over version 1 (x + 10):
// what is left is the one or the other, whole, and the next build gets on.
func TestCache_killedAtEveryStep(t *testing.T) {
	killed, olds, news := true, 0, 0
	for step := 0; killed; step++ {
		dir := t.TempDir()
		code, _ := cached(t, 10, dir, 1)
		require.Equal(t, Success, code)
		cmd := exec.Command(os.Args[0], "-test.run=^TestCache_killedProcess$")
		cmd.Env = append(os.Environ(), killDir+"="+dir, killStep+"="+strconv.Itoa(step))
		out, err := cmd.CombinedOutput()
		killed = cmd.ProcessState.Sys().(syscall.WaitStatus).Signaled()
		if !killed {
			require.NoError(t, err, "step %d: %s", step, out)
		}
		code, got := cached(t, 0, dir, 2)
		if code == Success {
			assert.Equal(t, float32(21), got, "step %d: the new cache", step)
			news++
		} else {
			assert.Zero(t, news, "step %d: the old cache after the new one", step)
			code, got = cached(t, 0, dir, 1)
			assert.Equal(t, Success, code, "step %d: neither cache is there", step)
			assert.Equal(t, float32(11), got, "step %d: the old cache", step)
			olds++
		}
		code, got = cached(t, 30, dir, 3)
		assert.Equal(t, []any{Success, float32(31)}, []any{code, got}, "step %d: the next build", step)
		code, got = cached(t, 0, dir, 3)
		assert.Equal(t, []any{Success, float32(31)}, []any{code, got}, "step %d: and its cache", step)
	}
	assert.Greater(t, olds, 10)
	assert.Greater(t, news, 4)
}
