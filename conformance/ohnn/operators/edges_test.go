package operators

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// oneRank are the operators whose first operand has one rank only: images, boxes, sequences, lists.
var oneRank = []string{
	"AVG_POOL", "BATCH_TO_SPACE_ND", "CONSTANT_OF_SHAPE", "CONV2D", "CONV2D_TRANSPOSE", "DEPTHWISE_CONV2D_NATIVE",
	"DEPTH_TO_SPACE",
	"DETECTION_POST_PROCESS", "FILL", "LRN", "LSTM", "MAX_POOL", "RANGE", "RESIZE_BILINEAR", "SCATTER_ND",
	"SPACE_TO_BATCH_ND", "SPACE_TO_DEPTH",
	"SPARSE_TO_DENSE",
}

// oneBlock are the operators that take whole blocks or make several elements of one: their smallest operand has one
// block.
var oneBlock = []string{"BATCH_TO_SPACE_ND", "DEPTH_TO_SPACE", "SPACE_TO_BATCH_ND", "SPACE_TO_DEPTH"}

func TestCases_ranksAndSmallestOperands(t *testing.T) {
	cases, err := loaded()
	require.NoError(t, err)
	ranks, smallest := map[string]map[int]bool{}, map[string]int{}
	for _, c := range cases {
		if c.Reject != nil || c.Of != "" {
			continue
		}
		if ranks[c.Op] == nil {
			ranks[c.Op], smallest[c.Op] = map[int]bool{}, 1<<30
		}
		for i, x := range c.In {
			dims := c.Tensors[x].Dims
			if f := c.Tensors[x].Feed; f != nil {
				dims = f.Dims
			}
			if i == 0 {
				ranks[c.Op][len(dims)] = true
			}
			n := 1
			for _, d := range dims {
				n *= int(d)
			}
			smallest[c.Op] = min(smallest[c.Op], n)
		}
	}
	require.Len(t, ranks, 108)
	for op := range ranks {
		assert.Equal(t, slices.Contains(oneRank, op), len(ranks[op]) == 1, "%s: ranks %v", op, ranks[op])
		want := 1
		if slices.Contains(oneBlock, op) {
			want = 4
		}
		assert.LessOrEqual(t, smallest[op], want, "%s: elements of the smallest operand", op)
	}
}
