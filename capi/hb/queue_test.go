package hb

import (
	"container/heap"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestQueue_order(t *testing.T) {
	var q taskHeap
	want := []*Task{{Order: Order{Priority: 9, Custom: 5}, order: 4}, {Order: Order{Priority: 9, Custom: 7}, order: 1},
		{Order: Order{Priority: 3, Custom: -1}, order: 2}, {Order: Order{Priority: 3, Custom: 0}, order: 3},
		{Order: Order{Priority: 3, Custom: 0}, order: 5}}
	for _, i := range []int{3, 0, 4, 2, 1} {
		q.Push(want[i])
	}
	slices.SortFunc(q, func(a, b *Task) int {
		if a.before(b) {
			return -1
		}
		return 1
	})
	require.Equal(t, want, []*Task(q))
}

// TestQueue_lowIsNotStarved: beside tasks of a higher priority without end one of a lower priority goes when it has
// waited long enough, and a crowd of such does not turn the order around.
func TestQueue_lowIsNotStarved(t *testing.T) {
	clock := time.Unix(0, 0)
	q := taskQueue{clock: func() time.Time { return clock }}
	add := func(priority int32) {
		q.count++
		heap.Push(&q.ready, &Task{Order: Order{Priority: priority}, order: q.count, since: clock})
	}
	for range 10 {
		add(1)
	}
	add(200)
	var low []time.Duration
	for clock.Before(time.Unix(3, 0)) {
		if q.next().Priority == 1 {
			low = append(low, clock.Sub(time.Unix(0, 0)))
		} else {
			add(200)
		}
		clock = clock.Add(2 * time.Millisecond)
	}
	require.Len(t, low, 10)
	for i, at := range low {
		require.InDelta(t, Patience+time.Duration(i)*Ageing, at, float64(4*time.Millisecond))
	}
	add(1)
	clock = clock.Add(time.Hour)
	add(Preemptive)
	require.EqualValues(t, Preemptive, q.next().Priority)
}

// TestQueue_lowBesideThoseThatBeginAtOnce: where tasks of the highest priority leave no place, others begin beyond the
// number of places when they have waited long enough, one by one. Where others have the places they wait on.
func TestQueue_lowBesideThoseThatBeginAtOnce(t *testing.T) {
	clock := time.Unix(0, 0)
	q := taskQueue{clock: func() time.Time { return clock }, running: sideBySide() - 1}
	q.mu.Lock()
	for range 3 {
		q.count++
		heap.Push(&q.ready, &Task{Order: Order{Priority: Preemptive}, order: q.count, since: clock})
	}
	urgent := []*Task{q.next(), q.next(), q.next()}
	require.NotContains(t, urgent, (*Task)(nil))
	q.running += len(urgent)
	for range 2 {
		q.count++
		heap.Push(&q.ready, &Task{Order: Order{Priority: 1}, order: q.count, since: clock})
	}
	require.Nil(t, q.next())
	clock = clock.Add(Patience - 1)
	require.Nil(t, q.next())
	clock = clock.Add(1)
	require.EqualValues(t, 4, q.next().order)
	q.running++
	require.Nil(t, q.next())
	clock = clock.Add(Ageing)
	require.Nil(t, q.next(), "none of the highest priority has these places")
	q.running--
	require.EqualValues(t, 5, q.next().order)
	require.Nil(t, q.next())
	q.running -= sideBySide() - 1
	q.mu.Unlock()
	for _, u := range urgent {
		q.leave(u)
	}
	require.Zero(t, q.running)
	require.Zero(t, q.urgent)
}
