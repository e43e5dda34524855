package hbdnn

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/capi/boundary"
)

func TestLogLevel(t *testing.T) {
	for value, want := range map[string]boundary.Level{"0": boundary.LevelOff, "1": boundary.LevelDebug,
		"2": boundary.LevelInfo, "3": boundary.LevelWarn, "4": boundary.LevelError, "5": boundary.LevelOff} {
		level, ok := logLevel(value)
		require.True(t, ok, value)
		require.Equal(t, want, level, value)
	}
	for _, value := range []string{"", "6", "-1", "warn", "3 "} {
		_, ok := logLevel(value)
		require.False(t, ok, value)
	}
}
