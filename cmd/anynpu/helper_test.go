package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/dl"
)

func TestRunHelper_tellsTheEnd(t *testing.T) {
	for script, want := range map[string]dl.Outcome{
		"echo $A >&3; exit 3":                 {Exit: 3, Output: "b\n"},
		"kill -SEGV $$":                       {Exit: -1, Signal: 11},
		"echo x >&3; sleep 1000 & exit 0":     {Output: "x\n"},
		"echo y >&3; sleep 1000 & sleep 1000": {Exit: -1, Signal: 9, TimedOut: true, Output: "y\n"},
	} {
		o, err := runHelper([]string{"/bin/sh", "-c", script}, []string{"A=b"}, 2*time.Second)
		require.NoError(t, err)
		assert.Equal(t, want, o, script)
	}
	_, err := runHelper([]string{"/no/such/program"}, nil, time.Minute)
	require.Error(t, err)
}
