package remote

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/anynpu/anynpu/backends/remote/link"
	"github.com/anynpu/anynpu/internal/oip"
)

func TestOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     "",
		"  a\n\tb  ":                           "a b",
		"\x1b[36mray::Replica\x1b[39m (pid=1)": "ray::Replica (pid=1)",
		"a\x00b\x1b[":                          "a b",
		"\xff\xfeok":                           "\uFFFD\uFFFDok",
		strings.Repeat("x", 200) + strings.Repeat("y", 200): strings.Repeat("x", 147) + " ... " + strings.Repeat("y", 147),
	} {
		assert.Equal(t, want, oneLine(text), "%q", text)
	}
}

// TestOfStatus holds the answers of real servers.
func TestOfStatus(t *testing.T) {
	for _, c := range []struct {
		code oip.Code
		text string
		want link.Class
	}{
		{oip.NotFound, "Request for unknown model: 'nosuch' is not found", link.Missing},
		{oip.Unknown, "Unexpected <class 'mlserver.errors.ModelNotFound'>: Model nosuch not found", link.Missing},
		{oip.InvalidArgument, "unexpected shape for input 'x'", link.Refused},
		{oip.Internal, "Internal server error", link.Failed},
		{oip.ResourceExhausted, "SERVER: Received message larger than max (67108900 vs. 8388608)", link.TooLarge},
		{oip.ResourceExhausted, "Request dropped due to backpressure (num_queued_requests=16, ...)", link.Busy},
		{oip.Unavailable, "Exceeds maximum queue size", link.Busy},
		{oip.Unavailable, "Socket closed", link.Down},
		{oip.Internal, "Stub process 'slow1_0_0' is not healthy.", link.Down},
		{oip.Internal, "The actor died unexpectedly before finishing this task.", link.Down},
		{oip.DeadlineExceeded, "Deadline Exceeded", link.Late},
		{oip.Unauthenticated, "", link.Denied},
		{oip.PermissionDenied, "", link.Denied},
		{oip.Unimplemented, "Method not found!", link.Missing},
	} {
		assert.Equal(t, c.want, ofStatus(c.code, c.text).class, "%v %s", c.code, c.text)
	}
	assert.Nil(t, ofStatus(oip.OK, ""))
	ctx, cancel := context.WithTimeout(context.Background(), -time.Second)
	defer cancel()
	assert.Equal(t, link.Late, ofError(ctx, errors.New("stream reset")).class)
	assert.Equal(t, link.Denied, ofError(context.Background(), errors.New("tls: unknown certificate")).class)
}

func TestBreaker(t *testing.T) {
	now := time.Unix(0, 0)
	b := &breaker{}
	ok, probe := b.admit(now)
	assert.True(t, ok && !probe)
	failure := failed(link.Failed, "x")
	assert.False(t, b.failure(failure, now))
	assert.False(t, b.failure(failure, now))
	assert.False(t, b.failure(failed(link.Refused, "the request's fault"), now))
	assert.True(t, b.failure(failure, now), "the third in a row")
	ok, _ = b.admit(now.Add(firstRest * 7 / 10))
	assert.False(t, ok)
	for rest := firstRest; rest < longestRest; rest = min(2*rest, longestRest) {
		now = now.Add(2 * longestRest)
		ok, probe = b.admit(now)
		assert.True(t, ok && probe, "one tries it, after a probe")
		ok, _ = b.admit(now)
		assert.False(t, ok, "the others do not")
		assert.False(t, b.failure(failure, now), "the rest goes on")
		assert.Equal(t, min(2*rest, longestRest), b.rest)
		assert.InDelta(t, float64(b.rest), float64(b.until.Sub(now)), 0.21*float64(b.rest))
	}
	ok, _ = b.admit(now.Add(2 * longestRest))
	assert.True(t, ok)
	assert.True(t, b.success())
	ok, probe = b.admit(now)
	assert.True(t, ok && !probe)
	assert.True(t, b.failure(failed(link.Down, "gone"), now), "no server: at once")
}

func TestFit(t *testing.T) {
	for _, c := range []struct{ got, want, fitted []int64 }{
		{[]int64{4, 3}, []int64{4, 3}, []int64{4, 3}},
		{[]int64{4}, []int64{-1}, []int64{4}},
		{[]int64{4, 1}, []int64{4}, []int64{4}},
		{[]int64{4, 1, 1}, []int64{-1}, []int64{4}},
		{[]int64{1}, []int64{}, []int64{}},
		{[]int64{4, 2}, []int64{4}, nil},
		{[]int64{4}, []int64{4, 1}, nil},
		{[]int64{5}, []int64{4}, nil},
		{[]int64{-1}, []int64{-1}, nil},
	} {
		got, ok := fit(c.got, c.want)
		assert.Equal(t, c.fitted != nil, ok, "%v for %v", c.got, c.want)
		if ok {
			assert.ElementsMatch(t, c.fitted, got)
		}
	}
}
