package record

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// Times of calls are counted by size: eight buckets between a number of nanoseconds and its double, so that a bucket is
// at most an eighth wide. The first eight hold their number itself.
const (
	parts   = 8
	buckets = 39 * parts // up to half an hour; longer calls are in the last
	// perTimed is the room for a function: its calls whose time is known, their sum, and the buckets.
	perTimed = 2 + buckets
	// maxTimed is how many functions get their times: a program calls few of an API.
	maxTimed = 48
)

// bucketOf is the bucket of a time.
func bucketOf(ns uint64) int {
	if ns < parts {
		return int(ns)
	}
	shift := bits.Len64(ns) - 4 // of eight parts
	return min((shift+1)*parts+int(ns>>shift)-parts, buckets-1)
}

// middleOf is the time in the middle of a bucket.
func middleOf(bucket int) time.Duration {
	if bucket < parts {
		return time.Duration(bucket)
	}
	shift := bucket/parts - 1
	return time.Duration(uint64(parts+bucket%parts)<<shift + uint64(1)<<shift/2)
}

// Took counts the time of a call of the function with this index. Functions beyond those that there is room for have
// none.
func (r *Recorder) Took(index int, function string, took time.Duration) {
	slot := r.timed[index].Load()
	if slot == 0 {
		slot = r.newTimed(index, function)
	}
	if slot < 0 {
		return
	}
	n := r.counts[r.timesAt()+int(slot-1)*perTimed:][:perTimed]
	atomic.AddUint64(&n[0], 1)
	atomic.AddUint64(&n[1], uint64(max(took, 0)))
	atomic.AddUint64(&n[2+bucketOf(uint64(max(took, 0)))], 1)
}

// newTimed gives a function room for its times, and returns the number of the room from 1, -1 if there is none.
func (r *Recorder) newTimed(index int, function string) int32 {
	r.mu.Lock()
	slot := r.timed[index].Load()
	var err error
	if slot == 0 {
		slot = -1
		if r.rooms < maxTimed {
			r.rooms++
			slot = int32(r.rooms)
			err = r.write(Event{Kind: "timed", Function: function, Slot: r.rooms - 1})
		}
		r.timed[index].Store(slot)
	}
	r.mu.Unlock()
	r.tell(err)
	return slot
}

// Converted counts time that the conversion of inputs and outputs takes.
func (r *Recorder) Converted(took time.Duration) {
	atomic.AddUint64(&r.counts[len(r.counts)-2], uint64(max(took, 0)))
}

// timesAt is where the times begin.
func (r *Recorder) timesAt() int { return 2*r.functions + beforeTimes }

// Times has the times of a function's calls that came into the library, not to a driver.
type Times struct {
	Calls       uint64
	Total       time.Duration
	Median, P99 time.Duration // to an eighth; of one call, its time
}

// timesOf reads the times of a function.
func timesOf(n []uint64) *Times {
	t := &Times{Calls: n[0], Total: time.Duration(n[1])}
	if t.Calls == 0 {
		return nil
	}
	if t.Calls == 1 {
		t.Median, t.P99 = t.Total, t.Total
		return t
	}
	t.Median, t.P99 = min(quantile(n[2:], t.Calls, 50), t.Total), min(quantile(n[2:], t.Calls, 99), t.Total)
	return t
}

// quantile is the time that so many of a hundred calls need at most.
func quantile(counts []uint64, calls uint64, percent uint64) time.Duration {
	want, seen := (calls*percent+99)/100, uint64(0)
	for i, n := range counts {
		if seen += n; seen >= want {
			return middleOf(i)
		}
	}
	return middleOf(len(counts) - 1) // the calls are counted before their buckets
}
