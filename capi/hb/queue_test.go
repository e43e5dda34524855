package hb

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestQueue_order(t *testing.T) {
	var q taskHeap
	want := []*Task{{Order: Order{Priority: 9, Custom: 5}, order: 4}, {Order: Order{Priority: 9, Custom: 7}, order: 1}, {Order: Order{Priority: 3, Custom: -1}, order: 2},
		{Order: Order{Priority: 3, Custom: 0}, order: 3}, {Order: Order{Priority: 3, Custom: 0}, order: 5}}
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
