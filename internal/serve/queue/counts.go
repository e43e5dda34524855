package queue

import (
	"sync/atomic"
	"time"
)

// counts are sums over the life of a queue.
type counts struct {
	refused, runs, joined atomic.Int64
	wait, compute         Histogram
}

// Counts are what a queue has done so far.
type Counts struct {
	Refused int64 // requests for which there was no room
	Runs    int64
	Joined  int64 // requests that shared a run
	// of requests that succeeded
	Wait, Compute Distribution
}

func (c *counts) add(o *outcome) {
	if o.err == nil {
		c.wait.Add(o.Wait)
		c.compute.Add(o.Compute)
	}
}

// Counts returns what the queue has done so far.
func (q *Queue) Counts() Counts {
	c := &q.counts
	return Counts{c.refused.Load(), c.runs.Load(), c.joined.Load(), c.wait.Read(), c.compute.Read()}
}

// Bounds are the upper ends of a Histogram's parts; the last part has none.
var Bounds = [...]time.Duration{100 * time.Microsecond, 300 * time.Microsecond, time.Millisecond, 3 * time.Millisecond,
	10 * time.Millisecond, 30 * time.Millisecond, 100 * time.Millisecond, 300 * time.Millisecond, time.Second,
	3 * time.Second, 10 * time.Second, 30 * time.Second}

// Histogram counts times by their length. The zero Histogram is empty; all methods are safe for concurrent use.
type Histogram struct {
	parts [len(Bounds) + 1]atomic.Int64
	sum   atomic.Int64
}

// Add counts a time.
func (h *Histogram) Add(d time.Duration) {
	i := 0
	for i < len(Bounds) && d > Bounds[i] {
		i++
	}
	h.parts[i].Add(1)
	h.sum.Add(int64(d))
}

// Distribution is what a Histogram has counted: times of at most Bounds[i] that are longer than the bound before, in
// the last part those that are longer than all, and their sum.
type Distribution struct {
	Parts [len(Bounds) + 1]int64
	Sum   time.Duration
}

// Read returns what was counted so far.
func (h *Histogram) Read() (d Distribution) {
	for i := range h.parts {
		d.Parts[i] = h.parts[i].Load()
	}
	d.Sum = time.Duration(h.sum.Load())
	return d
}
