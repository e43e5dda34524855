package rknn

import (
	"testing"
	"time"

	"github.com/anynpu/anynpu/core/device"
	"github.com/stretchr/testify/assert"
)

func TestLayoutTime_countsWithItsNeighbours(t *testing.T) {
	input, operators := layoutTime([]device.NodeTime{
		{Node: -1, Op: "layout", Length: 1 * time.Microsecond},
		{Node: 4, Op: "conv", Length: 10 * time.Microsecond},
		{Node: -1, Op: "layout", Length: 2 * time.Microsecond},
		{Node: -1, Op: "layout", Length: 3 * time.Microsecond},
		{Node: 7, Op: "relu", Length: 20 * time.Microsecond},
	})
	assert.Equal(t, 1*time.Microsecond, input)
	assert.Equal(t, []device.NodeTime{
		{Node: 4, Op: "conv", Length: 15 * time.Microsecond},
		{Node: 7, Op: "relu", Length: 20 * time.Microsecond},
	}, operators)
}
