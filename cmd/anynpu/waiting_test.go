package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// pseudoTerminal opens a terminal. shown closes it and returns what was written to it.
func pseudoTerminal(t *testing.T) (terminal *os.File, shown func() string) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	t.Cleanup(func() { master.Close() })
	require.NoError(t, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	return terminal, func() string {
		fmt.Fprint(terminal, "END")
		var text []byte
		for b := make([]byte, 4096); !bytes.Contains(text, []byte("END")); {
			k, err := master.Read(b)
			require.NoError(t, err)
			text = append(text, b[:k]...)
		}
		require.NoError(t, terminal.Close())
		return strings.TrimSuffix(string(text), "END")
	}
}

// TestWaiting_longStepsOnly: a step shows its seconds on a terminal once it takes long, and leaves nothing.
func TestWaiting_longStepsOnly(t *testing.T) {
	defer func(d time.Duration) { waitingAfter = d }(waitingAfter)
	waitingAfter = time.Hour
	terminal, shown := pseudoTerminal(t)
	waiting(terminal, "loading m.onnx")()
	assert.Empty(t, shown())

	waitingAfter = time.Millisecond
	terminal, shown = pseudoTerminal(t)
	done := waiting(terminal, "loading m.onnx")
	time.Sleep(100 * time.Millisecond)
	done()
	done()
	assert.Equal(t, "\rloading m.onnx: 0 s\r\x1b[K", shown())
	waiting(io.Discard, "nothing")()
}
