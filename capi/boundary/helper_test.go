package boundary

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func shell(t *testing.T, script string, limit time.Duration) HelperEnd {
	end, err := RunHelper([]string{"/bin/sh", "-c", script}, []string{"ANYNPU_HELPED=yes", "ANYNPU_TOLD=new"}, limit)
	require.NoError(t, err)
	return end
}

func TestRunHelper_tellsTheEnd(t *testing.T) {
	long := 5 * time.Minute
	t.Setenv("ANYNPU_TOLD", "old")
	for script, want := range map[string]HelperEnd{
		"echo $ANYNPU_HELPED $ANYNPU_TOLD >&3; exit 3": {Exit: 3, Output: "yes new\n"},
		"echo lost; echo lost >&2; echo kept >&3":      {Output: "kept\n"},
		"kill -SEGV $$": {Exit: -1, Signal: int(syscall.SIGSEGV)},
		"exit 255":      {Exit: 127},
		"head -c 100000 /dev/zero | tr '\\0' x >&3": {Output: strings.Repeat("x", maxHelperOutput)},
		"ls /proc/self/fd >&3":                      {Output: "0\n1\n2\n3\n4\n"}, // the last is ls's own
	} {
		assert.Equal(t, want, shell(t, script, long), script)
	}
	end := shell(t, "echo begun >&3; sleep 1000 & sleep 1000", time.Second)
	assert.Equal(t, HelperEnd{Exit: -1, TimedOut: true, Output: "begun\n"}, end)
	_, err := RunHelper([]string{"/no/such/program"}, nil, long)
	require.ErrorContains(t, err, "/no/such/program")
}

// TestRunHelper_isNoChildOfTheHost waits as a host does that waits for any child. Its SIGCHLD is counted by
// ctest/drivers.
func TestRunHelper_isNoChildOfTheHost(t *testing.T) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 5 {
			end, err := RunHelper([]string{"/bin/sh", "-c", "sleep 0.1; exit 4"}, nil, time.Minute)
			assert.NoError(t, err)
			assert.Equal(t, 4, end.Exit)
		}
	}()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
			pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
			require.ErrorIs(t, err, syscall.ECHILD, "waitpid(-1) returned %d", pid)
			time.Sleep(time.Millisecond)
		}
	}
}
