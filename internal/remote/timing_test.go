package remote

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestTiming_read(t *testing.T) {
	for line, want := range map[string]timing{
		"queue;dur=1.5, compute;dur=20": {1500 * time.Microsecond, 20 * time.Millisecond, true},
		"compute;dur=0":                 {0, 0, true},
		"queue;dur=2":                   {2 * time.Millisecond, 0, false},
		"compute;dur=-1":                {},
		"compute;dur=NaN, queue;dur=x":  {},
		"compute;desc=\"dur=1\",,;":     {},
		"":                              {},
	} {
		var got timing
		got.read(http.Header{"Server-Timing": {line}})
		assert.Equal(t, want, got, "%q", line)
	}
}
