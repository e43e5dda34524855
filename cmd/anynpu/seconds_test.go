package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestSeconds(t *testing.T) {
	for text, want := range map[string]time.Duration{"10": 10 * time.Second, "0": 0, "0.5": time.Second / 2,
		"500ms": time.Second / 2, "2m": 2 * time.Minute, "-1": -time.Second} {
		var s seconds
		assert.NoError(t, s.Set(text), text)
		assert.Equal(t, want, time.Duration(s), text)
	}
	for _, text := range []string{"", "x", "5 s", "nan", "1e300", "inf"} {
		var s seconds
		assert.ErrorContains(t, s.Set(text), "want a number of seconds", text)
	}
}
