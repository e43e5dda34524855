package rknn

import (
	"testing"
	"time"
	"unicode"

	"github.com/anynpu/anynpu/core/device"
	"github.com/stretchr/testify/assert"
)

func TestLayoutTime_countsWithItsNeighbours(t *testing.T) {
	input, operators := device.LayoutTime([]device.NodeTime{
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

// Programs print the table; names in it come from the model's file.
func TestPerfTable_namesStayText(t *testing.T) {
	st := device.Stats{Nodes: []device.NodeTime{{Node: 0, Op: "Foo\x1b[2J", Name: "a\n\u202eb", Length: time.Millisecond}}}
	text := perfTable(board(), st, map[int]row{})
	for _, r := range text {
		if r != '\n' && !unicode.IsPrint(r) {
			t.Fatalf("%q in %q", r, text)
		}
	}
	assert.Contains(t, text, `Foo\x1b[2J:a\n\u202eb`)
}
