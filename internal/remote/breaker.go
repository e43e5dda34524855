package remote

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/anynpu/anynpu/backends/remote/link"
)

// The rests of an address that fails: the first, the longest, and after how many failures of other kinds than Down in a
// row it begins.
const (
	firstRest    = 100 * time.Millisecond
	longestRest  = 30 * time.Second
	mostFailures = 3
)

// breaker lets an address rest that fails, for longer each time. After a rest one call tries it, after a probe.
type breaker struct {
	mu       sync.Mutex
	failures int // in a row
	resting  bool
	trying   bool
	until    time.Time
	rest     time.Duration
	why      string
	tried    bool
}

// admit says whether a call may go to the address now, and whether it is the one that tries it after a rest, and has to
// ask ModelReady first.
func (b *breaker) admit(now time.Time) (ok, probe bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case !b.resting:
		return true, false
	case b.trying || now.Before(b.until):
		return false, false
	}
	b.trying = true
	return true, true
}

// success ends a rest; it reports whether there was one.
func (b *breaker) success() (was bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	was = b.resting
	b.failures, b.resting, b.trying, b.rest, b.why, b.tried = 0, false, false, 0, "", true
	return was
}

// failure counts a failure; it reports whether a rest begins with it that is the first.
func (b *breaker) failure(f *failure, now time.Time) (begins bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	trial := b.trying
	b.trying, b.tried = false, true
	switch f.class {
	case link.Down, link.Denied:
		b.failures = mostFailures
	case link.Failed, link.Late, link.Garbled:
		b.failures++
	default: // the request's fault, or nobody's
		return false
	}
	if b.failures < mostFailures && !trial || b.resting && !trial {
		return false
	}
	begins = !b.resting
	b.rest = min(max(2*b.rest, firstRest), longestRest)
	b.resting, b.why = true, f.Error()
	b.until = now.Add(time.Duration(float64(b.rest) * (0.8 + 0.4*rand.Float64())))
	return begins
}

// state is what people are told.
func (b *breaker) state() (state, why string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.resting:
		return "resting", b.why
	case !b.tried:
		return "untried", ""
	}
	return "ready", ""
}

// counts are the work of an address.
type counts struct {
	mu                             sync.Mutex
	runs, failures, sent, received int64
	took                           time.Duration
	timed                          int64 // runs of which the server told what they took there
	there                          timing
}

func (c *counts) add(ok bool, sent, received int64, took time.Duration, there *timing) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.took += took
	if ok && there.told {
		c.timed++
		c.there.queue += there.queue
		c.there.compute += there.compute
	}
	c.sent, c.received = c.sent+sent, c.received+received
	if ok {
		c.runs++
	} else {
		c.failures++
	}
}
