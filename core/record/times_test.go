package record

import (
	"fmt"
	"sort"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestBuckets_areAnEighthWide: every time is within a sixteenth of the middle of its bucket, and buckets rise with
// times.
func TestBuckets_areAnEighthWide(t *testing.T) {
	last := -1
	for ns := uint64(0); ns < 1<<40; ns += ns/33 + 1 {
		b := bucketOf(ns)
		require.GreaterOrEqual(t, b, last, ns)
		require.Less(t, b, buckets)
		require.InDelta(t, float64(ns), float64(middleOf(b)), float64(ns)/16+0.5, ns)
		last = b
	}
	assert.Equal(t, buckets-1, bucketOf(1<<63))
}

// TestRecorder_timesOfCalls: sum, median and the 99th of a hundred, from two threads.
func TestRecorder_timesOfCalls(t *testing.T) {
	folder := t.TempDir()
	r := create(t, folder, "a", "b", "c")
	times := []time.Duration{}
	for i := range 1000 {
		times = append(times, time.Duration(1000+37*i*i))
	}
	var both sync.WaitGroup
	for half := range 2 {
		both.Go(func() {
			for i := half; i < len(times); i += 2 {
				r.Took(1, "b", times[i])
			}
		})
	}
	both.Wait()
	r.Took(2, "c", -time.Second)
	r.Converted(3 * time.Millisecond)
	r.Converted(4 * time.Millisecond)
	r.Calls()[0], r.Calls()[1], r.Calls()[2] = 5, 1000, 1
	all, _, err := ReadFolder(folder)
	require.NoError(t, err)
	f := all[0].Functions
	require.Len(t, f, 3)
	assert.Nil(t, f[0].Times, "its calls went to a driver")
	sort.Slice(times, func(i, j int) bool { return times[i] < times[j] })
	total := time.Duration(0)
	for _, d := range times {
		total += d
	}
	assert.Equal(t, uint64(1000), f[1].Times.Calls)
	assert.Equal(t, total, f[1].Times.Total)
	assert.InEpsilon(t, float64(times[499]), float64(f[1].Times.Median), 1.0/14)
	assert.InEpsilon(t, float64(times[989]), float64(f[1].Times.P99), 1.0/14)
	assert.Equal(t, &Times{Calls: 1}, f[2].Times)
	assert.Equal(t, 7*time.Millisecond, all[0].Converted)
}

// TestRecorder_timesOfManyFunctions: those beyond the room have none, and spoil no others.
func TestRecorder_timesOfManyFunctions(t *testing.T) {
	names := make([]string, maxTimed+5)
	for i := range names {
		names[i] = fmt.Sprint("f", i)
	}
	folder := t.TempDir()
	r := create(t, folder, names...)
	for i, name := range names {
		r.Calls()[i] = 1
		r.Took(i, name, time.Microsecond)
		r.Took(i, name, time.Microsecond)
	}
	r.Refused(0, "f0", "no", "a-b")
	all, _, err := ReadFolder(folder)
	require.NoError(t, err)
	for i, f := range all[0].Functions {
		if i < maxTimed {
			assert.Equal(t, 2*time.Microsecond, f.Times.Total, f.Name)
		} else {
			assert.Nil(t, f.Times, f.Name)
		}
	}
	assert.Equal(t, uint64(1), all[0].Refused[0].Times)
}

// TestTimesOf_fewCalls: one call has its time, and no call takes longer than all of them.
func TestTimesOf_fewCalls(t *testing.T) {
	n := make([]uint64, perTimed)
	n[0], n[1], n[2+bucketOf(7961)] = 1, 7961, 1
	assert.Equal(t, &Times{Calls: 1, Total: 7961, Median: 7961, P99: 7961}, timesOf(n))
	n[0], n[1], n[2+bucketOf(7961)], n[2+bucketOf(1)] = 2, 7962, 0, 1
	assert.Equal(t, &Times{Calls: 2, Total: 7962, Median: 1, P99: 7962}, timesOf(n))
}
